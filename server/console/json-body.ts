import type { IncomingMessage } from 'node:http'
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
