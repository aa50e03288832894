import { once } from 'node:events'
import { type IncomingMessage, request as send } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { passedOnHeader } from '../../../server/edge/passed-on.ts'
import { RequestProof } from '../../../server/edge/request-proof.ts'
import { callerHeader } from '../../../server/console/passed-on-calls.ts'
import type { ListenerName } from '../../../server/http/listeners.ts'
import { loadKeyFile } from '../../../server/store/files/key-file.ts'
import { createSealer } from '../../../server/store/sealer.ts'
import type { ControllersSite } from '../sites/controllers-site.ts'

/** A request between two controllers, as captured on the network: it can be replayed at any time, to any port. */
export interface CapturedRequest {
  method: string
  path: string
  /** Name, value, name, value, … */
  headers: string[]
  body: string
}

/** Makes requests of a controller with the site's key, as if they had been captured on the network. */
export class CapturedController {
  readonly #proof: RequestProof

  private constructor(proof: RequestProof) {
    this.#proof = proof
  }

  static async of(site: ControllersSite): Promise<CapturedController> {
    const [first] = site.controllers
    if (first === undefined) throw new Error('The site has no controller.')
    const key = await loadKeyFile(join(first.headless.folder, 'seal.key'))
    return new CapturedController(RequestProof.by(createSealer(key), ''))
  }

  /** Makes a call for a user who showed the console key at a replica. @param receiver id of the leader */
  call(receiver: string, method: string, path: string, body = ''): CapturedRequest {
    return this.#said(receiver, 'console', method, path, body, [callerHeader, 'key'])
  }

  /** Makes the WebSocket request of a replica that subscribes to events for its pages. */
  events(receiver: string): CapturedRequest {
    return this.#said(receiver, 'console', 'GET', '/ws', '', [callerHeader, 'events'])
  }

  /** Makes a client's request as forwarded by a replica. @param client its address */
  passedOn(receiver: string, listener: ListenerName, path: string, client: string): CapturedRequest {
    return this.#said(receiver, listener, 'GET', path, '', [], client)
  }

  #said(
    receiver: string,
    listener: ListenerName,
    method: string,
    path: string,
    body: string,
    more: string[],
    client = '',
  ): CapturedRequest {
    const headers = ['Host', 'localhost', ...more]
    if (body !== '') headers.push('Content-Type', 'application/json', 'Content-Length', String(body.length))
    const value = this.#proof.valueFor({ receiver, listener, method, target: path, headers, client, body })
    return { method, path, headers: [passedOnHeader, value, ...headers], body }
  }
}

/** Sends the request. @param url of a port @returns status 0 if the connection was closed without an answer */
export async function sendCaptured(
  url: string,
  { method, path, headers, body }: CapturedRequest,
): Promise<{ status: number; body: string }> {
  const { hostname: host, port } = new URL(url)
  const sent = send({ host, port, method, path, headers, agent: false })
  sent.end(body)
  const [answer] = (await once(sent, 'response').catch(() => [])) as [IncomingMessage?]
  if (answer === undefined) return { status: 0, body: '' }
  return { status: answer.statusCode ?? 0, body: await text(answer) }
}

/** Opens a WebSocket with the request. @returns the status of the answer: 101 if it opens */
export async function openCaptured(url: string, { path, headers }: CapturedRequest): Promise<number> {
  const { hostname: host, port } = new URL(url)
  const forWebSocket = ['Connection', 'Upgrade', 'Upgrade', 'websocket']
  forWebSocket.push('Sec-WebSocket-Version', '13', 'Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ==')
  const sent = send({ host, port, path, headers: [...headers, ...forWebSocket], agent: false })
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  sent.once('upgrade', (answer, socket) => {
    socket.destroy()
    resolve(answer.statusCode ?? 0)
  })
  sent.once('response', (answer) => {
    answer.resume()
    resolve(answer.statusCode ?? 0)
  })
  sent.once('error', reject)
  sent.end()
  return await promise
}
