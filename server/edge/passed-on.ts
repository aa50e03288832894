import { watchBody } from './node-internals.ts'
import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { endToEnd, headerOf, passedOnHeader } from './end-to-end-headers.ts'
import { isSame, maxCoveredBody, type Proven, type ProofProblem, type RequestProof } from './request-proof.ts'
import { drain } from './unread-body.ts'

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
