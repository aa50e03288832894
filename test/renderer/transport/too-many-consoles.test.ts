import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocketServer } from 'ws'
import { webSocketTransport } from '../../../renderer/kit/transport/websocket.ts'
import { eventually } from '../eventually.ts'
import { quietTime } from '../../support/quiet-time.ts'

/** A console port at its limit, until the test frees a place. */
async function fullPort() {
  const port = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await new Promise((resolve) => port.once('listening', resolve))
  const seen = { connections: 0, isFull: true }
  port.on('connection', (socket) => {
    seen.connections += 1
    if (seen.isFull) socket.close(4429, 'too many consoles of this account')
  })
  onTestFinished(() => {
    for (const socket of port.clients) socket.terminate()
    port.close()
  })
  return { seen, url: `ws://127.0.0.1:${(port.address() as AddressInfo).port}` }
}

test('a console over the limit says so and reconnects slowly, or at once when the operator asks', async () => {
  const { seen, url } = await fullPort()
  const states: string[] = []
  const options = { url, firstWait: 10, maxWait: 20, session: async () => 'signed_in' as const }
  const transport = webSocketTransport(options)
  onTestFinished(() => transport.close())
  transport.onState((state) => states.push(state))
  transport.open()
  await eventually(() => expect(transport.state()).toBe('crowded'))
  await expect(transport.call('rooms.list', {})).rejects.toThrow('The controller cannot be reached.')
  // An ordinary lost connection would have been retried ten times by now.
  await quietTime(300)
  expect(seen.connections).toBe(1)

  seen.isFull = false
  transport.open()
  await eventually(() => expect(transport.state()).toBe('online'))
  expect(states).not.toContain('lost')
})
