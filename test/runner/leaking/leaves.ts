import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, test, vi } from 'vitest'

test('a server, a variable and a listener stay; what Vitest replaced is restored', async () => {
  await once(createServer().listen(0, '127.0.0.1'), 'listening')
  process.env.ROOMDESK_LEFT = 'yes'
  process.on('warning', () => undefined)
  vi.stubEnv('ROOMDESK_STUBBED', 'yes')
  vi.useFakeTimers()
  expect(process.env.ROOMDESK_STUBBED).toBe('yes')
})
