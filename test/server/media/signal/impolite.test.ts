import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import net, { type AddressInfo, type Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import WebSocket from 'ws'
import { mediaSettingsSchema } from '../../../../shared/media/media-settings.ts'
import type { MediaLog } from '../../../../server/media/base/media-log.ts'
import { SignalServer } from '../../../../server/media/signal/signal-server.ts'
import type { SignalDependencies } from '../../../../server/media/signal/signal-connection.ts'
import { TestMediaNode } from '../../../support/media/media-node.ts'
import { offerSdp } from '../../../support/media/offer.ts'
import { SignalClient } from '../../../support/media/signal-client.ts'
import { shared } from '../../../support/fixtures.ts'

const mebibyte = 1024 * 1024
/** Maximum growth of the node in total: storing all floods would take many times that. */
const most = 160 * mebibyte

const node = shared(
  async () => {
    const node = await TestMediaNode.start({ execArgv: ['--min-semi-space-size=1'] })
    await node.openRoom('meeting')
    return node
  },
  async (node) => {
    expect(node.complaints).toEqual([])
    expect(await node.stop()).toBe(0)
  },
)
/** A well-behaved user, who gets answers whatever the others do. */
const polite = shared(
  () => SignalClient.join(node().url, 'meeting', { token: node().token('meeting', { userId: 'polite' }) }),
  (polite) => polite.drop(),
)
const memory = shared(() => residentBytes())

function residentBytes(): number {
  const status = readFileSync(`/proc/${node().child.pid}/status`, 'latin1')
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024
}

/** Expects the same process, little memory, and answers for well-behaved users. */
async function expectWell(): Promise<void> {
  expect(residentBytes() - memory()).toBeLessThan(most)
  polite().forget()
  polite().send({ type: 'ping', id: 1 })
  await polite().next('pong')
  expect(node().child.exitCode).toBeNull()
}

/** Opens a WebSocket by hand, to do what no library allows. */
async function rawSignal(): Promise<{ socket: Socket; closed: Promise<unknown> }> {
  const socket = net.connect(node().port, '127.0.0.1')
  socket.on('error', () => {})
  const closed = new Promise((resolve) => socket.once('close', resolve))
  const key = randomBytes(16).toString('base64')
  socket.write(
    `GET /signal HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
  )
  const [head] = (await once(socket, 'data')) as [Buffer]
  expect(head.toString('latin1')).toContain('101 Switching Protocols')
  return { socket, closed }
}

/** Makes a frame of a client (RFC 6455, section 5.2), masked with zeros. */
function frame(opcode: number, payload: Buffer, final = true): Buffer {
  const length = payload.length
  const size = length < 126 ? [0x80 | length] : [0x80 | 126, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([(final ? 0x80 : 0) | opcode, ...size, 0, 0, 0, 0]), payload])
}

/** Repeats a frame until the node closes the connection or `bytes` were sent. */
async function flood(socket: Socket, one: Buffer, bytes = 40 * mebibyte): Promise<void> {
  const block = Buffer.concat(Array.from({ length: Math.ceil(65_536 / one.length) }, () => one))
  const closed = new Promise((resolve) => socket.once('close', resolve))
  for (let sent = 0; sent < bytes && !socket.destroyed; sent += block.length) {
    if (!socket.write(block)) await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed])
  }
}

const text = (message: unknown): Buffer => Buffer.from(JSON.stringify(message))
const ping = 9
const pong = 10

describe('a signalling connection that', () => {
  test.each([
    ['sends endless pings', frame(ping, randomBytes(125))],
    ['sends unsolicited pongs', frame(pong, randomBytes(125))],
    ['sends fragments of an endless message', frame(1, Buffer.from('x'), false)],
    ['sends empty fragments', frame(0, Buffer.alloc(0), false)],
    [
      'claims to send an endless frame',
      Buffer.from([0x81, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]),
    ],
    ['sends random bytes', randomBytes(4096)],
    ['sends invalid text', frame(1, Buffer.from([0xff, 0xfe, 0xfd]))],
    [
      'sends join requests again and again',
      frame(1, text({ type: 'join', version: 1, room_id: 'meeting', token: 'x' })),
    ],
    ['sends deeply nested JSON', frame(1, Buffer.from('['.repeat(60_000)))],
  ])('%s, and never reads, is ended', async (_what, bytes) => {
    const { socket, closed } = await rawSignal()
    socket.pause()
    await flood(socket, bytes)
    // A paused socket notices its end only when it reads.
    socket.resume()
    await closed
    await expectWell()
  })

  test('does not read the messages of others is cut off; the others continue', async () => {
    await node().openRoom('deaf')
    const { socket, closed } = await rawSignal()
    const token = node().token('deaf', { userId: 'deaf' })
    socket.write(frame(1, text({ type: 'join', version: 1, room_id: 'deaf', token })))
    await once(socket, 'data')
    socket.pause()
    const talker = await SignalClient.join(node().url, 'deaf', { token: node().token('deaf', { userId: 'talker' }) })
    const gone = talker.next((message) => message.type === 'person_changed' && message.person.away, 15_000)
    // Talks at the maximum rate, with new users once one has reached the limit.
    let running = true
    const talking = (async () => {
      for (let turn = 0; running; turn++) {
        const other = await SignalClient.join(node().url, 'deaf', {
          token: node().token('deaf', { userId: `t${turn}` }),
        })
        for (let i = 0; i < 140; i++) other.send({ type: 'chat', text: '多'.repeat(4_000) })
        other.send({ type: 'ping', id: 1 })
        await other.next('pong')
        other.send({ type: 'leave' })
        await other.closed
      }
    })()
    await gone
    running = false
    await talking
    talker.drop()
    socket.resume()
    await closed
    await expectWell()
  })

  test('sends far more messages than people do is ended, and may return', async () => {
    const loud = await SignalClient.join(node().url, 'meeting', { token: node().token('meeting', { userId: 'loud' }) })
    for (let i = 0; i < 200; i++) loud.send({ type: 'state', audio: i % 2 === 0, video: false })
    expect(await loud.closed).toBe(1006)
    const again = await SignalClient.resume(node().url, loud.joined.session)
    again.send({ type: 'leave' })
    await again.closed
    await expectWell()
  })

  test('was ended is no longer served', async () => {
    await node().openRoom('ended', { hostPassword: 'secret' })
    const token = node().token('ended')
    const person = await SignalClient.join(node().url, 'ended', { token })
    // All in flight at once: a user who has left cannot rejoin over the same connection.
    person.send({ type: 'leave' })
    person.send({ type: 'join', version: 1, room_id: 'ended', token })
    await person.closed
    expect(await node().userIds('ended')).toEqual([])
  })
})

describe('a client of WHIP and WHEP that', () => {
  const bearer = { 'content-type': 'application/sdp' }

  test('disconnects in the middle of its offer leaves nothing behind, not even a log line', async () => {
    const before = await node().userIds('meeting')
    const token = node().token('meeting')
    for (const length of [0, 1, 500]) {
      const socket = net.connect(node().port, '127.0.0.1')
      socket.write(
        `POST /whip/meeting HTTP/1.1\r\nHost: x\r\nContent-Type: application/sdp\r\nAuthorization: Bearer ${token}\r\nContent-Length: 900\r\n\r\n${'v'.repeat(length)}`,
        () => socket.resetAndDestroy(),
      )
      await once(socket, 'close')
    }
    await expectWell()
    expect(await node().userIds('meeting')).toEqual(before)
  })

  test('sends thousands of candidates gets an answer, and some of them are used', async () => {
    const headers = { ...bearer, authorization: `Bearer ${node().token('meeting', { userId: 'sender' })}` }
    const posted = await fetch(`${node().url}/whip/meeting`, {
      method: 'POST',
      headers,
      body: offerSdp({ direction: 'sendonly' }),
    })
    const session = `${node().url}${posted.headers.get('location') ?? ''}`
    const line = (i: number) => `a=candidate:${i} 1 UDP 2130706431 127.0.0.1 ${1 + (i % 65_000)} typ host\r\n`
    for (let round = 0; round < 10; round++) {
      const body = `a=mid:0\r\n${Array.from({ length: 1_000 }, (_, i) => line(round * 1_000 + i)).join('')}`
      const response = await fetch(session, {
        method: 'PATCH',
        headers: { 'content-type': 'application/trickle-ice-sdpfrag' },
        body,
      })
      expect(response.status).toBe(204)
    }
    await fetch(session, { method: 'DELETE' })
    await expectWell()
  })
})

describe('the signalling server', () => {
  /** Starts a server with parts made by the test. */
  async function started(admit: () => never, perAddress?: number) {
    const logged: string[] = []
    const write = (message: string, detail = ''): void => void logged.push(`${message}: ${detail}`)
    const log: MediaLog = { debug: write, info: write, warn: write, error: write }
    const parts = {
      rooms: { find: () => ({}), bySession: () => undefined },
      admission: { admit },
      settings: () => mediaSettingsSchema.parse({}),
      log,
    }
    const signal = new SignalServer(parts as unknown as SignalDependencies, perAddress)
    const server = createServer().on('upgrade', (request, socket, head) =>
      signal.upgrade(request, socket, head, '127.0.0.1'),
    )
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      logged,
      [Symbol.dispose]: () => {
        signal.close()
        server.close()
      },
    }
  }

  test('logs an unexpected error in full and ends only that connection', async () => {
    using server = await started(() => {
      throw new TypeError('nobody foresaw this')
    })
    const clients = [new SignalClient(server.url), new SignalClient(server.url)]
    for (const { socket } of clients) await once(socket, 'open')
    const [one, other] = clients
    one?.send({ type: 'join', version: 1, room_id: 'x', token: 'x' })
    expect(await one?.closed).toBe(1011)
    expect(server.logged).toEqual([expect.stringContaining('TypeError: nobody foresaw this')])
    expect(server.logged[0]).toContain('impolite.test.ts')
    expect(other?.socket.readyState).toBe(WebSocket.OPEN)
    other?.drop()
  })

  test('limits the connections of an address, until one of them ends', async () => {
    using server = await started(() => {
      throw new TypeError('nobody joins here')
    }, 2)
    const open = async (): Promise<WebSocket> => {
      const { socket } = new SignalClient(server.url)
      await once(socket, 'open')
      return socket
    }
    const openable = async (): Promise<boolean> => {
      const attempt = await Promise.allSettled([open()])
      return attempt[0].status === 'fulfilled'
    }
    const first = await open()
    await open()
    await expect(open()).rejects.toThrow('503')
    first.terminate()
    await expect.poll(openable).toBe(true)
  })
})
