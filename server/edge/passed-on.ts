import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { watchBody } from './node-internals.ts'
import { isSame, maxCoveredBody, type ProofProblem, type Proven, type RequestProof } from './request-proof.ts'
import { drain } from './unread-body.ts'

/** First header of a request that one controller of a site sends to another; never accepted from a client. */
export const passedOnHeader = 'Roomdesk-Client'
const lowerName = passedOnHeader.toLowerCase()

/** Headers of one connection only (RFC 9110, section 7.6.1). */
const ofConnection = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * Returns the end-to-end headers of a message, unchanged: name, value, name, value. Leaves out the header with which
 * controllers describe a client.
 */
export function endToEnd(raw: readonly string[]): string[] {
  const named = namedByConnection(raw)
  const passed: string[] = []
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const [name = '', value = ''] = [raw[i], raw[i + 1]]
    const lower = name.toLowerCase()
    if (ofConnection.has(lower) || named?.has(lower) === true || lower === lowerName) continue
    passed.push(name, value)
  }
  return passed
}

/** Returns the value of a header, the first if there are several; undefined: none. */
export function headerOf(raw: readonly string[], wanted: string): string | undefined {
  for (let i = 0; i + 1 < raw.length; i += 2) if (raw[i]?.toLowerCase() === wanted) return raw[i + 1]
  return undefined
}

function namedByConnection(raw: readonly string[]): Set<string> | undefined {
  const value = headerOf(raw, 'connection')
  if (value === undefined || /^(keep-alive|close|upgrade)$/i.test(value)) return undefined
  // A client must not remove Host or Content-Length by listing them in Connection.
  const names = value.split(',').map((name) => name.trim().toLowerCase())
  return new Set(names.filter((name) => name !== 'host' && name !== 'content-length'))
}

/**
 * Response header of a controller that is not the leader and ignored a forwarded request. The sender must find the
 * leader.
 */
export const notLeader = 'Roomdesk-Not-Leader'

const proven = Symbol('proof of a request that another controller sent')
/** Response header with the proof that this controller answered this request. */
export const answerProofHeader = 'roomdesk-answer'

interface PassedOn {
  [proven]?: Proven
}

/**
 * Returns the proven client address of a forwarded request; undefined: the request came directly, or is a controller's
 * own request.
 */
export function provenClient(request: object): string | undefined {
  const client = (request as PassedOn)[proven]?.client
  return client === '' ? undefined : client
}

/** Returns the proof of a request that another controller of the site sent; undefined for any other request. */
export function provenRequest(request: object): Proven | undefined {
  return (request as PassedOn)[proven]
}

/**
 * Checks a request that claims to come from a controller of the site. For other requests the cost is one comparison. If
 * the body does not match the proof, the connection is closed before the reader of the body receives the end.
 * @param listener name of the port
 * @returns undefined: no claim; otherwise `proven`, or the reason for refusing the request
 */
export function checkPassedOn(
  request: IncomingMessage,
  listener: string,
  proof: RequestProof,
): 'proven' | ProofProblem | undefined {
  const { rawHeaders, method = '', url: target = '' } = request
  if (rawHeaders[0] !== passedOnHeader) return undefined
  const headers = endToEnd(rawHeaders)
  const found = proof.check(rawHeaders[1] ?? '', { method, target, headers, listener })
  // Any client may send such a header, so a malformed value is ignored.
  if (found === 'malformed') return undefined
  if (typeof found === 'string') return found
  if (!bodyFits(request, found)) return 'wrong'
  Object.assign(request, { [proven]: found } satisfies PassedOn)
  return 'proven'
}

/** Refuses a request with an invalid proof, or a request for another controller, without executing any part of it. */
export function refuseAsNotLeader(request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(421, { [notLeader]: '1', 'content-length': 0, connection: 'close' })
  drain(request, response)
}

/**
 * Checks the body of a request against its proof, while the body is read.
 * @returns false: the headers already show that the body does not match
 */
function bodyFits(request: IncomingMessage, { body }: Proven): boolean {
  const length = headerOf(request.rawHeaders, 'content-length')
  const chunked = headerOf(request.rawHeaders, 'transfer-encoding') !== undefined
  if (body === 'streamed') return !chunked && Number(length ?? 0) > maxCoveredBody
  if (body === 'none') {
    if (chunked) checkBody(request, '')
    return Number(length ?? 0) === 0
  }
  checkBody(request, body.sha256)
  return true
}

/**
 * Closes the connection if the body does not match.
 * @param expected SHA-256, base64url; empty: no body
 */
function checkBody(request: IncomingMessage, expected: string): void {
  const hash = createHash('sha256')
  let bytes = 0
  watchBody(request, (piece) => {
    if (piece !== null) {
      bytes += piece.length
      hash.update(piece)
      return true
    }
    const fits = expected === '' ? bytes === 0 : isSame(expected, hash.digest('base64url'))
    if (!fits) request.destroy(new Error('The body is not the one that the other controller proved.'))
    return fits
  })
}
