import { janusCodes } from '../wire/janus-error.ts'
import { issueToken } from '../../../../shared/files/signed-tokens.ts'
import type { JanusSocket } from '../wire/janus-socket.ts'
import type { JanusFindings } from './janus-findings.ts'
import { janusErrorOf } from './trial-call.ts'

/** Maximum difference between the clocks that is not reported, in seconds. */
const unnoticed = 3
/** Difference from which tokens no longer work reliably, in seconds. */
const unbearable = 60
const yearSeconds = 365 * 24 * 60 * 60

/**
 * Checks whether the node rejects clients without a token, and admits a holder of the controller's token until it
 * expires. Determines the node's clock from the expiry of further tokens.
 * @returns a token that the node admits; empty if none is required; undefined if the node admits no token
 * @param given whether the operator set the secret; false: the controller derived it
 * @param socket connection without credentials of the controller
 * @param now returns Unix seconds
 * @throws the errors of JanusSocket.request
 */
export async function inspectTokens(
  socket: JanusSocket,
  { secret, given }: { secret: string; given: boolean },
  now: () => number,
  findings: JanusFindings,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (await isLetIn(socket, undefined, signal)) {
    findings.add('tokenAuthOff')
    if (!given) findings.add('roomsUnguarded')
    return ''
  }
  const lasting = issueToken('janus-core', secret, { expiresAt: Math.floor(now()) + yearSeconds })
  if (!(await isLetIn(socket, lasting, signal))) {
    findings.add(given ? 'tokenSecretWrong' : 'tokenSecretMissing')
    return undefined
  }
  await compareClocks(socket, secret, now, findings, signal)
  return lasting
}

async function compareClocks(
  socket: JanusSocket,
  secret: string,
  now: () => number,
  findings: JanusFindings,
  signal: AbortSignal,
): Promise<void> {
  const counts = (offset: number): Promise<boolean> =>
    isLetIn(socket, issueToken('janus-core', secret, { expiresAt: Math.floor(now() + offset) }), signal)
  const [future, past] = [await counts(unnoticed), await counts(-unnoticed)]
  if (future && !past) return
  // Binary search for the earliest expiry that the node still accepts, which is the node's current time.
  let [refused, taken] = future ? [-yearSeconds, -unnoticed] : [unnoticed, yearSeconds]
  while (taken - refused > 1) {
    const middle = Math.floor((refused + taken) / 2)
    if (await counts(middle)) taken = middle
    else refused = middle
  }
  const apart = Math.abs(taken)
  const severity = apart >= unbearable ? 'error' : undefined
  findings.add(taken > 0 ? 'clockAhead' : 'clockBehind', { seconds: String(apart) }, severity)
}

/** Returns whether the node opens a session with this token. The session is ended again. */
async function isLetIn(socket: JanusSocket, token: string | undefined, signal: AbortSignal): Promise<boolean> {
  let session: number | undefined
  const refusal = await janusErrorOf(
    socket.request({ janus: 'create', token }, signal).then(({ data }) => {
      session = data?.id
    }),
  )
  if (session !== undefined)
    await janusErrorOf(socket.request({ janus: 'destroy', session_id: session, token }, signal))
  return refusal !== janusCodes.unauthorized
}
