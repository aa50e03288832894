import { expect, test } from 'vitest'
import { removeFolder, startHeadless } from '../../support/headless.ts'
import { isAlive } from '../../support/sites/media-site.ts'

test('a killed controller takes its media process along', async () => {
  const server = await startHeadless({ site: { nodes: [{ name: 'here', kind: 'embedded' }] } })
  const pid = Number(/"pid":(\d+)/.exec(server.log.find((line) => line.includes('embedded node runs')) ?? '')?.[1])
  expect(isAlive(pid)).toBe(true)
  await server.stop('SIGKILL')
  await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false)
  await removeFolder(server.folder)
})
