import type { IncomingMessage, ServerResponse } from 'node:http'
import { limits } from '../../shared/limits.ts'
import type { ApiName } from '../../shared/result-codes.ts'
import { drain } from '../edge/unread-body.ts'

export interface Envelope {
  /** JSONP callback that wraps the answer; undefined: plain JSON. */
  callback: string | undefined
  /** Whether to close the connection after the answer. */
  close: boolean
}

/** Methods in the answer to a CORS preflight. */
const methods: Readonly<Record<ApiName, string>> = { media: 'GET', device: 'GET, POST' }
/**
 * Headers that a page may send. `*` does not include `Authorization` (Fetch standard), and older browsers treat `*` as
 * a header name.
 */
const allowedHeaders = '*, Authorization, Content-Type'
const json = 'application/json; charset=utf-8'
const script = 'text/javascript; charset=utf-8'

/** Writes answers: always HTTP 200, even for errors, with the headers of contract section 1. */
export class AnswerWriter {
  readonly #origins: () => readonly string[]
  /** Whether the listener is stopping, so that connections are no longer kept alive. */
  stopping = false

  /** @param origins returns the allowed CORS origins; `*`: any */
  constructor(origins: () => readonly string[]) {
    this.#origins = origins
  }

  /** Answers with a JSON text. */
  write(request: IncomingMessage, response: ServerResponse, text: string, envelope: Envelope): void {
    const body = envelope.callback === undefined ? text : wrapInCallback(envelope.callback, text)
    const length = Buffer.byteLength(body)
    response.writeHead(200, this.#headers(request, length, envelope))
    // If there are as many bytes as characters, the text is ASCII, which Node writes faster as latin1.
    response.end(body, length === body.length ? 'latin1' : 'utf8')
  }

  /**
   * Answers a request whose body was not read to its end. Closes the connection after the client had time to receive
   * the answer.
   */
  writeAndDrain(request: IncomingMessage, response: ServerResponse, text: string): void {
    response.writeHead(200, this.#headers(request, Buffer.byteLength(text), { callback: undefined, close: true }))
    response.write(text)
    drain(request, response)
  }

  /** Answers a CORS preflight for any path: the actual request is refused if the path is unknown. */
  writePreflight(request: IncomingMessage, response: ServerResponse, api: ApiName): void {
    const headers = this.#headers(request, 9, { callback: undefined, close: false })
    headers.push('Access-Control-Allow-Methods', methods[api], 'Access-Control-Allow-Headers', allowedHeaders)
    headers.push('Access-Control-Max-Age', '600')
    response.writeHead(200, headers)
    response.end('{"ret":0}')
  }

  /** Returns the CORS headers of other documents of the listener. */
  corsHeaders(request: IncomingMessage): Record<string, string> {
    const origin = this.#allowedOrigin(request)
    const headers: Record<string, string> = origin === '*' ? {} : { vary: 'Origin' }
    if (origin !== undefined) headers['access-control-allow-origin'] = origin
    return headers
  }

  /** Returns the headers as a flat list, which Node writes without creating an object. */
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

/**
 * Pattern of a JSONP callback (contract, section 1). Field experience: browser clients call with `callback=test`, or
 * jQuery's `callback=?`.
 */

// eslint-disable-next-line roomdesk/linear-patterns -- each part begins with a dot, which no part contains
const identifierPath = /^[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*$/

/** Whether a callback is a plain identifier path; nothing else may precede the answer. */
export function isCallback(name: string): boolean {
  return name.length <= limits.callback && identifierPath.test(name)
}

/**
 * Wraps an answer in a script. The leading comment prevents the caller from choosing the first bytes of the answer
 * (CVE-2014-4671).
 */
function wrapInCallback(callback: string, json: string): string {
  // U+2028 and U+2029 end a line in scripts before ES2019, but not in JSON.
  return `/**/${callback}(${json.replace(/[\u2028\u2029]/g, (end) => (end === '\u2028' ? '\\u2028' : '\\u2029'))});`
}
