import { janusCodes } from '../wire/janus-error.ts'
import type { JanusSocket } from '../wire/janus-socket.ts'
import { coreToken } from '../rooms/signed-token.ts'
import type { Findings } from './janus-findings.ts'
import { refusalOf } from './trial-call.ts'

/** Difference between the clocks that is not reported, in seconds. */
const unnoticed = 3
/** From here on nobody can work with it, in seconds. */
const unbearable = 60
const yearSeconds = 365 * 24 * 60 * 60

/**
 * Tries who is admitted: nobody without a token, and a holder of one of ours for as long as the token says. The expiry of tokens there shows the node's clock.
 * @returns a token that admits; empty: none is needed; undefined: nobody can be admitted
 * @param given by the operator, rather than made
 * @param socket that sends no credentials by itself
 * @param now Unix seconds
 * @throws as JanusSocket.request
 */
export async function inspectTokens(
  socket: JanusSocket,
  { secret, given }: { secret: string; given: boolean },
  now: () => number,
  findings: Findings,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (await isLetIn(socket, undefined, signal)) {
    findings.add('tokenAuthOff')
    if (!given) findings.add('roomsUnguarded')
    return ''
  }
  const lasting = coreToken(secret, Math.floor(now()) + yearSeconds)
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
  findings: Findings,
  signal: AbortSignal,
): Promise<void> {
  const counts = (offset: number): Promise<boolean> =>
    isLetIn(socket, coreToken(secret, Math.floor(now() + offset)), signal)
  const [future, past] = [await counts(unnoticed), await counts(-unnoticed)]
  if (future && !past) return
  // The earliest end that still counts is the node's now: between what is refused and what is taken.
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

/** Whether a session is opened for who shows this. It is ended again. */
async function isLetIn(socket: JanusSocket, token: string | undefined, signal: AbortSignal): Promise<boolean> {
  let session: number | undefined
  const refusal = await refusalOf(
    socket.request({ janus: 'create', token }, signal).then(({ data }) => {
      session = data?.id
    }),
  )
  if (session !== undefined) await refusalOf(socket.request({ janus: 'destroy', session_id: session, token }, signal))
  return refusal !== janusCodes.unauthorized
}
