import type { IncomingMessage, ServerResponse } from 'node:http'

/** Longest time that a body nobody wants is read on, so that its sender gets to see the answer. Milliseconds. */
const unreadMs = 1_000

/** Bytes that a request announces of its body; 0 where it does not say. */
export function announcedLength({ headers }: IncomingMessage): number {
  return Number(headers['content-length'] ?? 0)
}

/**
 * Answers a request whose body was not read to its end. What still comes of it is thrown away; the connection closes, but not before the sender could see the
 * answer. Headers that are set on the response go out.
 */
export function answerUnread(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  text: string | Buffer,
): void {
  response.writeHead(status, { 'content-length': Buffer.byteLength(text), connection: 'close' })
  response.write(text)
  drain(request, response)
}

/** Ends a response whose body is written, once its request is read or for too long on its way. */
export function drain(request: IncomingMessage, response: ServerResponse): void {
  if (request.readableEnded) {
    response.end()
    return
  }
  const end = (): void => {
    clearTimeout(timer)
    response.end()
  }
  const timer = setTimeout(end, unreadMs).unref()
  request.once('end', end)
  request.once('close', end)
  request.resume()
}
