import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * Maximum time in milliseconds for which an unwanted body is read and discarded, so that its sender can receive the
 * answer.
 */
const unreadMs = 1_000

/** Returns the announced length of a request's body, in bytes; 0: not announced. */
export function announcedLength({ headers }: IncomingMessage): number {
  return Number(headers['content-length'] ?? 0)
}

/**
 * Answers a request whose body was not read to its end. The rest of the body is discarded, and the connection is closed
 * after the sender could receive the answer. Headers that are set on the response are sent.
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

/** Ends a response after its body was written: as soon as the request is read completely, or after a timeout. */
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
