import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { ownCertificate } from '../../../../server/edge/own-certificate.ts'
import type { JanusEvent } from '../../../../server/nodes/janus/events/event-message.ts'
import { EventPort, type EventSource } from '../../../../server/nodes/janus/events/event-port.ts'
import { eventPath } from '../../../../server/nodes/secrets/janus-access.ts'
import { startSafeJanus } from '../../../support/janus/safe-janus.ts'

const logged: string[] = []
const log = (_: object, message: string): void => void logged.push(message)

/** A node as seen by its driver. */
class Heard implements EventSource {
  readonly name: string
  readonly secret: string
  readonly events: JanusEvent[] = []
  /** History of its connections: true connected, false disconnected. */
  readonly connections: boolean[] = []

  constructor(name: string) {
    this.name = name
    this.secret = `secret of ${name}`.replaceAll(' ', '-')
  }

  connected(connected: boolean): void {
    this.connections.push(connected)
  }

  take(event: JanusEvent): void {
    this.events.push(event)
  }
}

const joined = (id: string) => ({
  type: 64,
  event: { plugin: 'janus.plugin.videoroom', data: { event: 'joined', room: 'r', id, private_id: 1 } },
})

describe('The port to which Janus nodes send their events', () => {
  let port: EventPort
  let hall: Heard
  let yard: Heard
  beforeEach(async () => {
    ;[hall, yard] = [new Heard('hall'), new Heard('the yard')]
    logged.length = 0
    port = await opened()
  })
  afterEach(() => port.stop())

  const opened = async (beatMs?: number): Promise<EventPort> => {
    const sources = (): EventSource[] => [hall, yard]
    const made = new EventPort({ sources, logger: { warn: log, error: log }, ...(beatMs && { beatMs }) })
    await made.start('127.0.0.1', 0, undefined)
    return made
  }
  const url = (path: string): string => port.url.replace('http', 'ws') + path
  /** Connects a node. */
  const connected = async (node: Heard, options: { autoPong?: boolean } = {}): Promise<WebSocket> => {
    const socket = new WebSocket(url(eventPath(node.name)), [node.secret], options)
    socket.on('error', () => {})
    onTestFinished(() => socket.terminate())
    await once(socket, 'open')
    return socket
  }
  /** Resolves to the close code of a connection. */
  const closing = async (socket: WebSocket): Promise<number> => {
    const [code] = (await once(socket, 'close')) as [number]
    return code
  }

  test('refuses connections without the secret of the node, and keeps receiving from that node', async () => {
    const node = await connected(hall)
    const refusal = (path: string, ...protocols: string[]): Promise<number | undefined> =>
      new Promise((resolve) => {
        const socket = new WebSocket(url(path), protocols)
        socket.on('unexpected-response', (_, { statusCode }) => resolve(statusCode))
        socket.on('open', () => resolve(101))
        socket.on('error', () => {})
      })
    const path = eventPath('hall')
    expect(await refusal(path)).toBe(401)
    expect(await refusal(path, 'wrong')).toBe(401)
    expect(await refusal(path, 'wrong', hall.secret)).toBe(401)
    expect(await refusal(path, yard.secret)).toBe(401)
    expect(await refusal(eventPath('another'), hall.secret)).toBe(401)
    expect(await refusal('/', hall.secret)).toBe(401)
    expect(await refusal(`${path}/..`, hall.secret)).toBe(401)
    expect((await fetch(port.url + path)).status).toBe(404)
    node.send(JSON.stringify(joined('ann')))
    await expect.poll(() => hall.events).toMatchObject([{ type: 'joined', userId: 'ann' }])
    expect(hall.connections).toEqual([true])
    expect(yard.connections).toEqual([])
  })

  test('closes a connection that sends invalid JSON, or far too much; the node reconnects', async () => {
    const garbage = await connected(hall)
    garbage.send('{"type":64,')
    expect(await closing(garbage)).toBe(1007)
    const bytes = await connected(hall)
    bytes.send(Buffer.from([0xff, 0xfe, 0x00]))
    expect(await closing(bytes)).toBe(1007)
    const huge = await connected(hall)
    huge.send(`[${' '.repeat(4 * 1024 * 1024)}]`)
    expect(await closing(huge)).toBe(1009)
    const node = await connected(hall)
    // Skips entries that are not our events, whatever surrounds them.
    const others = [1, null, [], { type: 64 }, { type: 64, event: { plugin: 'x', data: 5 } }, { type: 'x' }]
    node.send(JSON.stringify([...others, joined('ann'), { type: 64, event: joined('bob') }]))
    await expect.poll(() => hall.events).toMatchObject([{ userId: 'ann' }])
    expect(hall.connections).toEqual([true, false, true, false, true, false, true])
    expect(logged).toEqual([])
  })

  test('receives from one node while another one floods it', async () => {
    const [flooding, node] = [await connected(hall), await connected(yard)]
    const many = JSON.stringify(Array.from({ length: 100 }, () => joined('ann')))
    for (let sent = 0; sent < 200; sent += 1) flooding.send(many)
    const began = performance.now()
    node.send(JSON.stringify(joined('bob')))
    await expect.poll(() => yard.events.length, { interval: 5 }).toBe(1)
    expect(performance.now() - began).toBeLessThan(1_500)
    await expect.poll(() => hall.events.length).toBe(20_000)
  })

  test('detects a dead node within two heartbeats, and keeps a silent one', async () => {
    await port.stop()
    port = await opened(100)
    const quiet = await connected(yard)
    await connected(hall, { autoPong: false })
    expect(hall.connections).toEqual([true])
    await expect.poll(() => hall.connections, { interval: 5 }).toEqual([true, false])
    await once(quiet, 'ping')
    await once(quiet, 'ping')
    expect(yard.connections).toEqual([true])
    expect(quiet.readyState).toBe(WebSocket.OPEN)
  })

  test('keeps only the newest connection of a node: the previous one may be dead', async () => {
    const before = await connected(hall)
    const closed = closing(before)
    const node = await connected(hall)
    await closed
    node.send(JSON.stringify(joined('ann')))
    await expect.poll(() => hall.events.length).toBe(1)
    expect(hall.connections).toEqual([true, false, true])
  })

  test('accepts a node however many silent connections are open', async () => {
    const sockets = Array.from({ length: 450 }, () =>
      connect({ host: '127.0.0.1', port: Number(new URL(port.url).port) }).on('error', () => {}),
    )
    onTestFinished(() => sockets.forEach((socket) => socket.destroy()))
    await expect.poll(() => port.connections()).toBeGreaterThanOrEqual(200)
    const node = await connected(hall)
    node.send(JSON.stringify(joined('ann')))
    await expect.poll(() => hall.events.length).toBe(1)
    expect(port.connections()).toBeLessThanOrEqual(200)
  })
})

test('A node sends its events over TLS if it trusts the certificate of the site, and to no other server', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-tls-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const hall = new Heard('hall')
  const port = new EventPort({ sources: () => [hall], logger: { warn: log, error: log } })
  await port.start('127.0.0.1', 0, await ownCertificate(folder))
  onTestFinished(() => port.stop())
  const events = { backend: port.url.replace('http', 'ws') + eventPath('hall'), subprotocol: hall.secret }
  expect(events.backend).toMatch(/^wss:/)
  const { janus: stranger } = await startSafeJanus({ events })
  onTestFinished(() => stranger[Symbol.asyncDispose]())
  await expect.poll(() => stranger.log.join('\n')).toMatch(/wsevh.*SSL/)
  expect(hall.connections).toEqual([])
  const { janus } = await startSafeJanus({ events, trusts: join(folder, 'authority.crt') })
  onTestFinished(() => janus[Symbol.asyncDispose]())
  await expect.poll(() => hall.events).toMatchObject([{ type: 'started' }])
})
