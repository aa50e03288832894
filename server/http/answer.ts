import type { IncomingMessage, ServerResponse } from 'node:http'
import { limits } from '../../shared/limits.ts'
import type { ApiName } from '../../shared/result-codes.ts'
import { drain } from '../edge/unread-body.ts'

/** How an answer leaves. */
export interface Envelope {
  /** Wrapped in this JSONP callback; undefined is plain JSON. */
  callback: string | undefined
  /** Close the connection after it. */
  close: boolean
}

/** Methods in the answer to a CORS preflight. */
const methods: Readonly<Record<ApiName, string>> = { media: 'GET', device: 'GET, POST' }
/** Headers that a page may send. `*` does not include `Authorization` (Fetch standard), and means a header of that name to older browsers. */
const allowedHeaders = '*, Authorization, Content-Type'
const json = 'application/json; charset=utf-8'
const script = 'text/javascript; charset=utf-8'

/** Writes answers: HTTP 200 whatever went wrong, with the headers of contract section 1. */
export class AnswerWriter {
  readonly #origins: () => readonly string[]
  /** The listener is stopping: connections are not kept. */
  stopping = false

  /** @param origins the allowed CORS origins; `*` among them is any */
  constructor(origins: () => readonly string[]) {
    this.#origins = origins
  }

  /** Answers with a JSON text. */
  write(request: IncomingMessage, response: ServerResponse, text: string, envelope: Envelope): void {
    const body = envelope.callback === undefined ? text : wrapInCallback(envelope.callback, text)
    const length = Buffer.byteLength(body)
    response.writeHead(200, this.#headers(request, length, envelope))
    // As many bytes as characters is ASCII, which leaves faster as latin1.
    response.end(body, length === body.length ? 'latin1' : 'utf8')
  }

  /** Answers a request whose body was not read to its end: the connection closes, but not before the sender could see the answer. */
  writeAndDrain(request: IncomingMessage, response: ServerResponse, text: string): void {
    response.writeHead(200, this.#headers(request, Buffer.byteLength(text), { callback: undefined, close: true }))
    response.write(text)
    drain(request, response)
  }

  /** Answers a CORS preflight for any path: the request that follows is refused if the path is unknown. */
  writePreflight(request: IncomingMessage, response: ServerResponse, api: ApiName): void {
    const headers = this.#headers(request, 9, { callback: undefined, close: false })
    headers.push('Access-Control-Allow-Methods', methods[api], 'Access-Control-Allow-Headers', allowedHeaders)
    headers.push('Access-Control-Max-Age', '600')
    response.writeHead(200, headers)
    response.end('{"ret":0}')
  }

  /** The CORS headers of any other document of the listener. */
  corsHeaders(request: IncomingMessage): Record<string, string> {
    const origin = this.#allowedOrigin(request)
    const headers: Record<string, string> = origin === '*' ? {} : { vary: 'Origin' }
    if (origin !== undefined) headers['access-control-allow-origin'] = origin
    return headers
  }

  /** Flat: Node writes it without making an object of it. */
  #headers(request: IncomingMessage, length: number, envelope: Envelope): string[] {
    const isScript = envelope.callback !== undefined
    const headers = [
      'Content-Type',
      isScript ? script : json,
      'Content-Length',
      String(length),
      'Cache-Control',
      'no-store',
    ]
    const origin = this.#allowedOrigin(request)
    if (origin !== undefined) headers.push('Access-Control-Allow-Origin', origin)
    if (origin !== '*') headers.push('Vary', 'Origin')
    if (isScript) headers.push('X-Content-Type-Options', 'nosniff')
    if (envelope.close || this.stopping) headers.push('Connection', 'close')
    return headers
  }

  #allowedOrigin(request: IncomingMessage): string | undefined {
    const origins = this.#origins()
    if (origins.includes('*')) return '*'
    const { origin } = request.headers
    return origin !== undefined && origins.includes(origin) ? origin : undefined
  }
}

/** JSONP (contract, section 1; field: browser clients call with `callback=test` or jQuery's `callback=?`). */

// eslint-disable-next-line roomdesk/linear-patterns -- each part begins with a dot, which no part contains
const identifierPath = /^[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*$/

/** A plain identifier path: the only thing that may be put in front of the answer. */
export function isCallback(name: string): boolean {
  return name.length <= limits.callback && identifierPath.test(name)
}

/** An answer as a script. The comment in front keeps the answer's first bytes out of the caller's hands (CVE-2014-4671). */
function wrapInCallback(callback: string, json: string): string {
  // U+2028 and U+2029 end a line in scripts before ES2019, in JSON they do not.
  return `/**/${callback}(${json.replace(/[\u2028\u2029]/g, (end) => (end === '\u2028' ? '\\u2028' : '\\u2029'))});`
}
