import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { unproven } from '../../../server/gate/gate.ts'
import { connectionLimits } from '../../../server/edge/limits.ts'
import { EdgeServer, type EdgeServerOptions } from '../../../server/edge/server.ts'

/** A port on loopback, with its log. */
export interface TestPort {
  server: EdgeServer
  url: string
  port: number
  logged: { fields: object; message: string }[]
}

/** Options of a port whose handlers have no state. */
type PortOptions = Partial<Omit<EdgeServerOptions, 'request' | 'upgrade'>> & {
  request?: (request: IncomingMessage, response: ServerResponse) => unknown
  upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => unknown
}

/** Opens a port that answers `ok`, or as the test says; closed after the test. */
export async function openPort({ request, upgrade, ...options }: PortOptions = {}): Promise<TestPort> {
  const logged: TestPort['logged'] = []
  const log = (fields: object, message: string): void => void logged.push({ fields, message })
  const server = new EdgeServer({
    name: 'test',
    log: { warn: log, error: log },
    limits: connectionLimits.api,
    maxHeaderSize: 16 * 1024,
    request: unproven('no state', request ?? ((_request, response) => void response.end('ok'))),
    ...(upgrade === undefined ? {} : { upgrade: unproven('no state', upgrade) }),
    ...options,
  })
  onTestFinished(() => server.stop(0))
  const { port, url } = await server.start({ host: '127.0.0.1', port: 0 })
  return { server, url, port, logged }
}

/** Opens a connection from a loopback address; destroyed after the test. */
export async function client(port: number, from = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port, localAddress: from })
  socket.on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  await new Promise((resolve) => socket.once('connect', resolve))
  return socket
}

/** Reads everything until the other side closes. */
export function rest(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
    })
    socket.once('close', () => resolve(text))
  })
}
