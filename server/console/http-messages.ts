import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Refusal, refusal } from '../../shared/refusals/refusal.ts'

/** Thrown if the body of a request is not JSON or is too long. */
export class JsonBodyError extends Error {
  readonly refusal: Refusal
  constructor(refused: Refusal) {
    super(refused.message)
    this.name = 'JsonBodyError'
    this.refusal = refused
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Reads the JSON body of a request; undefined without a body.
 * @param maxBytes maximum size in bytes
 * @throws JsonBodyError; ECONNRESET if the client disconnects
 */
export async function readJson(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLong(maxBytes)
  const chunks: Buffer[] = []
  let size = 0
  // After an early exit, the connection stays open, because the response has to be sent over it.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) throw tooLong(maxBytes)
    chunks.push(chunk)
  }
  if (size === 0) return undefined
  try {
    return JSON.parse(utf8.decode(Buffer.concat(chunks)))
  } catch {
    throw new JsonBodyError(refusal('bodyNotJson'))
  }
}

function tooLong(maxBytes: number): JsonBodyError {
  const limit = maxBytes < 1024 * 1024 ? `${maxBytes} bytes` : `${maxBytes / 1024 / 1024} MiB`
  return new JsonBodyError(refusal('bodyTooLarge', { limit }))
}

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
