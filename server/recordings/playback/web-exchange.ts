import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/**
 * Converts a request of Node, without its body, for a fetch handler. The signal of the result aborts when the client
 * disconnects.
 */
export function webRequest(request: IncomingMessage, response: ServerResponse): Request {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  const given = Object.entries(request.headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value] satisfies [string, string]],
  )
  // The handler uses only the path, so the host name is arbitrary.
  const url = new URL(request.url ?? '/', 'http://console.invalid')
  return new Request(url, { method: request.method ?? 'GET', headers: given, signal: gone.signal })
}

/**
 * Sends the response of a fetch handler.
 * @throws if the client disconnects before the end, or the body cannot be read
 */
export async function sendWebResponse(answer: Response, response: ServerResponse): Promise<void> {
  if (response.destroyed) return await answer.body?.cancel()
  response.writeHead(answer.status, Object.fromEntries(answer.headers))
  if (answer.body === null) response.end()
  else await pipeline(Readable.from(answer.body), response)
}
