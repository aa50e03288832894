import { onAbort } from '../../shared/abort.ts'
import { request as send } from 'node:http'
import { text } from 'node:stream/consumers'
import { answerProofHeader, passedOnHeader } from '../edge/passed-on.ts'
import type { RequestProof } from '../edge/request-proof.ts'
import type { KnownController } from '../store/election/site-member.ts'
import { connectToLeader, leaderPort } from './leader-connection.ts'

/** A request to the console of another controller. */
export interface ConsoleQuestion {
  method?: string
  path: string
  /** JSON body; undefined: no body. */
  body?: string
}

/** Credentials for requests to other controllers. */
export interface PeerTrust {
  proof: RequestProof
  /** Permits plain HTTP to another machine. */
  allowPlain: boolean
}

/** Sends a request to the console of another controller: see `askConsole`. */
export type AskPeer = (
  other: Pick<KnownController, 'id' | 'place'>,
  question: ConsoleQuestion,
  signal: AbortSignal,
) => Promise<{ status: number; body: string } | undefined>

/**
 * Thrown if an answer is not from the called controller, or not for this request: the answer was modified or replayed,
 * or comes from an older version of Roomdesk.
 */
class UnprovenAnswerError extends Error {
  override readonly name = 'UnprovenAnswerError'
}

/**
 * Sends a request to the console of another controller in any role, over a separate connection. Request and answer
 * carry proofs.
 * @returns undefined: the controller has no console, or calling it is not permitted
 * @throws UnprovenAnswerError; errors of the connection; the abort reason of `signal`
 */
export async function askConsole(
  { id, place: { console: url, certificate } }: Pick<KnownController, 'id' | 'place'>,
  { method = 'GET', path, body = '' }: ConsoleQuestion,
  { proof, allowPlain }: PeerTrust,
  signal: AbortSignal,
): Promise<{ status: number; body: string } | undefined> {
  const port = leaderPort(url, certificate, allowPlain)
  if (port === undefined) return undefined
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>()
  const unregister = onAbort(signal, () => reject(signal.reason))
  connectToLeader(port, (error, socket) => {
    if (error !== null) return reject(error)
    if (signal.aborted) return void socket.destroy()
    // A controller with a valid proof may use any host name.
    const headers = ['Host', 'localhost']
    if (body !== '') headers.push('Content-Type', 'application/json', 'Content-Length', String(Buffer.byteLength(body)))
    const value = proof.valueFor({
      ...{ receiver: id, listener: 'console', method, target: path, headers, client: '', body },
    })
    const asked = send({
      createConnection: () => socket,
      ...{ method, path, signal },
      headers: [passedOnHeader, value, ...headers, 'Connection', 'close'],
    })
    asked.on('error', reject)
    asked.once('response', (response) => {
      const { statusCode: status = 0, headers: received } = response
      const shown = received[answerProofHeader]
      text(response).then((said) => {
        const answer = { status, body: said }
        if (typeof shown === 'string' && proof.isAnswer(id, value, answer, shown)) resolve(answer)
        else reject(new UnprovenAnswerError(`The answer of ${url} is not that of the controller ${id}.`))
      }, reject)
    })
    asked.end(body)
  })
  return await promise.finally(() => unregister())
}
