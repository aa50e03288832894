import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { buffer, text } from 'node:stream/consumers'
import type { ApiName } from '../../../shared/result-codes.ts'

/** Answer of an API, as a proxy passes it on. */
export interface ProxiedAnswer {
  status: number
  headers: Record<string, string>
  body: string
}

/** A request that goes through the proxy. */
export interface ProxiedCall {
  api: ApiName
  method: string
  path: string
  /** Query as it was sent, without the question mark. */
  query: string
  /** Parameters of the query. */
  params: URLSearchParams
  headers: Record<string, string>
  body: Buffer
  /** Sends the request to the server, changed if wanted. */
  forward: (change?: {
    method?: string
    path?: string
    query?: string
    headers?: Record<string, string>
  }) => Promise<ProxiedAnswer>
}

/** Answers a call: by passing the server's answer on, by another one, or by a fault of the connection. */
export type Alter = (call: ProxiedCall) => Promise<ProxiedAnswer | 'reset' | 'hang' | 'endless' | 'half'>

/** Both APIs of a server, with altered answers. */
export class AlteringProxy {
  readonly #servers: http.Server[] = []
  #alter: Alter = (call) => call.forward()

  /** Addresses of both APIs. */
  readonly urls: { media: string; device: string } = { media: '', device: '' }

  static async start(origin: { media: string; device: string }): Promise<AlteringProxy> {
    const proxy = new AlteringProxy()
    for (const api of ['media', 'device'] as const) {
      const server = http.createServer((request, response) => void proxy.#serve(api, origin[api], request, response))
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      proxy.#servers.push(server)
      proxy.urls[api] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    }
    return proxy
  }

  alter(alter: Alter): void {
    this.#alter = alter
  }

  stop(): void {
    for (const server of this.#servers) {
      server.close()
      server.closeAllConnections()
    }
  }

  async #serve(api: ApiName, origin: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = '', ...rest] = (request.url ?? '').split('?')
    const query = rest.join('?')
    const { method = 'GET' } = request
    const { host: _host, connection: _connection, ...headers } = request.headers as Record<string, string>
    const body = await buffer(request)
    const forward: ProxiedCall['forward'] = (change = {}) =>
      send(origin, { method, path, query, headers, ...change }, body)
    const call = { api, method, path, query, params: new URLSearchParams(query), headers, body, forward }
    const answer = await this.#alter(call)
    if (answer === 'hang') return
    if (answer === 'reset') {
      request.socket.resetAndDestroy()
      return
    }
    if (answer === 'endless') {
      const timer = setInterval(() => response.write(' '.repeat(256 * 1024)), 1)
      response.once('close', () => clearInterval(timer))
      return
    }
    if (answer === 'half') {
      response.writeHead(200, { 'content-length': 100 }).write('{"ret":')
      setTimeout(() => request.socket.destroy(), 20)
      return
    }
    const { 'content-length': _length, ...others } = answer.headers
    response.writeHead(answer.status, others).end(answer.body)
  }
}

async function send(
  origin: string,
  { method, path, query, headers }: { method: string; path: string; query: string; headers: Record<string, string> },
  body: Buffer,
): Promise<ProxiedAnswer> {
  const target = query === '' ? path : `${path}?${query}`
  const { hostname, port } = new URL(origin)
  const sent = http.request({ hostname, port, method, path: target, headers, agent: false })
  sent.end(body)
  const [reply] = (await once(sent, 'response')) as [IncomingMessage]
  const entries = Object.entries(reply.headers).map(([name, value]) => [name, String(value)])
  return { status: reply.statusCode ?? 0, headers: Object.fromEntries(entries), body: await text(reply) }
}
