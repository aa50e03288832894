import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket as Client, WebSocketServer } from 'ws'
import { fakeLeader, leadBy, openPassing } from './passing.ts'

const read = '/rtc/room/get?room_id=1'
const create = '/rtc/room/create?topic=a&owner_id=o&room_mode=1'
const bodyOf = async (url: string): Promise<unknown> => await (await fetch(url)).json()

test('A leader that accepts requests and never answers is given up after the deadlines of the site: 700', async () => {
  const { way, media } = await openPassing({ deadlines: { store_ms: 200, node_ms: 200, device_ms: 200 } })
  const leader = await fakeLeader(() => {})
  leadBy(way, 'one', leader.url)
  const began = performance.now()
  for (const answer of await Promise.all([bodyOf(media + read), bodyOf(media + create)]))
    expect(answer).toMatchObject({ ret: 700 })
  expect(performance.now() - began).toBeLessThan(10_000)
  // It can be reached: whatever comes next goes there, too.
  expect(way.unreachable.size).toBe(0)
  expect(leader.requests).toHaveLength(2)
})

test('A leader becomes unreachable: a change has an unknown outcome, a read continues when it returns', async () => {
  const { way, media } = await openPassing({ deadlines: { store_ms: 8_000 } })
  const leader = await fakeLeader(() => {})
  leadBy(way, 'one', leader.url)
  const [reading, changing] = [bodyOf(media + read), bodyOf(media + create)]
  await vi.waitFor(() => expect(leader.requests).toHaveLength(2))
  // Its connections stay open, and silent; new ones are refused.
  leader.server.close()
  expect(await changing).toMatchObject({ ret: 700 })
  expect([...way.unreachable.keys()]).toEqual(['media'])
  const { port } = new URL(leader.url)
  await fakeLeader((_, response) => response.end('{"ret":0}'), undefined, Number(port))
  expect(await reading).toEqual({ ret: 0 })
  expect(way.unreachable.size).toBe(0)
})

test('A WebSocket ends when the leader behind it can no longer be reached', async () => {
  const { way, node } = await openPassing()
  const leader = await fakeLeader((_, response) => response.end())
  const sockets = new WebSocketServer({ noServer: true })
  leader.server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    sockets.handleUpgrade(request, socket, head, () => {})
  })
  leadBy(way, 'one', leader.url)
  const client = new Client(`${node.replace('http', 'ws')}/signal`)
  onTestFinished(() => client.terminate())
  await once(client, 'open')
  const closed = once(client, 'close')
  await way.doubtAll()
  expect(client.readyState).toBe(Client.OPEN)
  leader.server.close()
  await way.doubtAll()
  await closed
})
