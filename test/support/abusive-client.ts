import { connect, type Socket } from 'node:net'
import { connect as tlsConnect } from 'node:tls'

/** A port's address, taken from its URL. */
export interface Target {
  name: string
  url: string
  port: number
  tls: boolean
}

export const targetOf = (name: string, url: string): Target => {
  const { port, protocol } = new URL(url)
  return { name, url, port: Number(port), tls: protocol === 'https:' }
}

/** Ways in which a client leaves. */
export const endings = ['reset', 'half-close', 'destroy', 'reset soon', 'half-close and reset'] as const
export type Ending = (typeof endings)[number]

/** Beginnings of requests; the client leaves in the middle of one. */
export const openings: readonly string[] = [
  'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n',
  'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\nand more bytes',
  ...['/ws', '/signal', '//', '/', 'http://[::1', '/rtc/room/get', '/janus/hall'].map(
    (path) =>
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n\x81\x85abcdhello',
  ),
  'POST /signal HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 5\r\n\r\nhello',
  'GET http://[::1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
  'GET /rtc/room/get?room_id=1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
  'POST /rpc/rooms.list HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{"half":',
  'POST /session HTTP/1.1\r\nHost: 127.0.0.1\r\nExpect: 100-continue\r\nContent-Length: 40\r\n\r\n{"key":"short"}',
  'POST /rtc/mcu/outgoing HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nZZ\r\n',
  'POST /whip/1 HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/sdp\r\nContent-Length: 60000\r\n\r\nv=0',
  'OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
  'GET /?会议 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 no TLS either',
  `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`,
]

/** Points at which a client leaves: the number of bytes it has sent by then. */
export const phases: readonly ((length: number) => number)[] = [
  () => 0,
  () => 1,
  (length) => Math.floor(length / 2),
  (length) => length - 1,
  (length) => length,
]

/** Opens a connection, with TLS if the port speaks it and `plainly` is not set. Ignores errors of the client. */
export function open(target: Target, options: { from?: string; plainly?: boolean } = {}): Promise<Socket> {
  const place = { host: '127.0.0.1', port: target.port, localAddress: options.from ?? '127.0.0.1' }
  return new Promise((resolve) => {
    const tcp = connect(place, () => {
      if (target.tls && options.plainly !== true) {
        const socket = tlsConnect({ socket: tcp, rejectUnauthorized: false }, () => resolve(socket))
        socket.on('error', () => resolve(socket))
      } else resolve(tcp)
    })
    tcp.on('error', () => resolve(tcp))
  })
}

/** Sends the beginning of a request and leaves; resolves when the connection is over. */
export async function abuse(target: Target, bytes: string, length: number, ending: Ending): Promise<void> {
  const socket = await open(target)
  if (socket.destroyed) return
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.resume()
  socket.write(Buffer.from(bytes, 'utf8').subarray(0, length))
  const reset = (): void => void (target.tls ? socket.destroy() : socket.resetAndDestroy())
  if (ending === 'reset') reset()
  else if (ending === 'destroy') socket.destroy()
  else if (ending === 'reset soon') setTimeout(reset, 2 + Math.random() * 20)
  else {
    socket.end()
    setTimeout(reset, ending === 'half-close' ? 400 : 5)
  }
  await closed
}

/** Measures how long a port takes to answer a plain request, in milliseconds. @throws Error after the deadline */
export async function answersIn(target: Target, from = '127.0.0.1', deadlineMs = 5_000): Promise<number> {
  const began = performance.now()
  const socket = await open(target, { from })
  try {
    return await new Promise<number>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${target.name} does not answer`)), deadlineMs)
      socket.once('data', (chunk: Buffer) => {
        clearTimeout(timer)
        if (chunk.toString('latin1').startsWith('HTTP/1.1 ')) resolve(performance.now() - began)
        else reject(new Error(`${target.name} answers ${chunk.toString('latin1', 0, 40)}`))
      })
      socket.once('close', () => reject(new Error(`${target.name} closed the connection of a good client`)))
      socket.write('GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n')
    })
  } finally {
    socket.destroy()
  }
}
