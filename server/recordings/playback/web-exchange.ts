import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** Request of a fetch handler, made of one of Node's; without a body. The signal fires when the client is gone. */
export function webRequest(request: IncomingMessage, response: ServerResponse): Request {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  const given = Object.entries(request.headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value] satisfies [string, string]],
  )
  // The handler looks at the path alone: the name of this host may be any.
  const url = new URL(request.url ?? '/', 'http://console.invalid')
  return new Request(url, { method: request.method ?? 'GET', headers: given, signal: gone.signal })
}

/** Sends the answer of a fetch handler. @throws when the client goes before the end, or the body cannot be read */
export async function sendWebResponse(answer: Response, response: ServerResponse): Promise<void> {
  if (response.destroyed) return await answer.body?.cancel()
  response.writeHead(answer.status, Object.fromEntries(answer.headers))
  if (answer.body === null) response.end()
  else await pipeline(Readable.from(answer.body), response)
}
