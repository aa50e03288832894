import { onAbort } from '../../shared/abort.ts'
import { type IncomingMessage, request as send } from 'node:http'
import { text } from 'node:stream/consumers'
import { monotonic, startTimer, timeoutSignal } from '../store/system/time.ts'
import { z } from 'zod'
import { RefusalError, consoleRefusal, type ConsoleResult } from '../../shared/domain/outcome.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import { refused, resultOfError } from '../console/console-answer.ts'
import type { CallOrigin } from '../console/handlers.ts'
import { callerHeader } from '../console/passed-on-calls.ts'
import { passedOnHeader } from '../edge/passed-on.ts'
import type { RequestProof } from '../edge/request-proof.ts'
import { doesNotLead, type LeaderTarget, type LeaderResolver } from './leader-resolver.ts'
import { watchUnanswered } from './unanswered.ts'
import { clusterTimes } from '../store/election/timings.ts'

export interface LeaderAnswer {
  status: number
  headers: IncomingMessage['headers']
  body: string
}

const resultSchema = z.discriminatedUnion('ok', [
  z.looseObject({ ok: z.literal(true), value: z.unknown() }),
  z.looseObject({
    ok: z.literal(false),
    // Versions before 2 send no name: the page shows their message.
    error: z.object({
      ...consoleRefusal.shape,
      name: z.string().default('other'),
      values: consoleRefusal.shape.values.default({}),
    }),
  }),
])

/** Maximum size of an answer, in bytes; large enough for a part of a backup or a page of rooms. */
const maxBytes = 32 * 1024 * 1024

/**
 * Calls the console of the leader for a caller who has signed in here. The leader checks identity and permissions by
 * the caller's own session or token.
 */
export class LeaderConsole {
  readonly #resolver: LeaderResolver
  readonly #proof: RequestProof
  readonly #waitMs: () => number

  /** @param waitMs maximum wait for a leader, in milliseconds */
  constructor(resolver: LeaderResolver, proof: RequestProof, waitMs: () => number) {
    this.#resolver = resolver
    this.#proof = proof
    this.#waitMs = waitMs
  }

  /** Calls a procedure of the leader. Failures of the leader are returned as results. */
  async call(name: string, input: unknown, origin: CallOrigin): Promise<ConsoleResult<unknown>> {
    try {
      const { body } = await this.ask('POST', `/rpc/${encodeURIComponent(name)}`, origin.client, {
        headers: origin.forLeader?.() ?? {},
        body: JSON.stringify(input ?? {}),
      })
      const result = resultSchema.parse(JSON.parse(body))
      if (result.ok) return { ok: true, value: result.value }
      const { problems, ...error } = result.error
      return { ok: false, error: { ...error, ...(problems === undefined ? {} : { problems }) } }
    } catch (error) {
      return resultOfError(error) ?? refused(refusal('leaderSilent'))
    }
  }

  /**
   * Returns headers that open a WebSocket for the leader's events, with a proof that this is a controller of the site.
   * @param receiver id of the leader
   */
  headersForEvents(receiver: string): Record<string, string> {
    const headers = { host: 'localhost', [callerHeader]: 'events' }
    const value = this.#proof.valueFor({
      ...{ receiver, listener: 'console', method: 'GET', target: '/ws', client: '', body: undefined },
      headers: Object.entries(headers).flat(),
    })
    return { [passedOnHeader]: value, ...headers }
  }

  /**
   * Sends one request to the leader's console.
   * @throws RefusalError failed if no controller leads; errors of the connection
   */
  async ask(
    method: string,
    path: string,
    client: string,
    { headers, body = '' }: { headers: Record<string, string>; body?: string },
  ): Promise<LeaderAnswer> {
    const signal = timeoutSignal(clusterTimes.consoleAnswer)
    const deadline = monotonic() + this.#waitMs()
    for (;;) {
      const target = await this.#resolver.next('console', deadline, signal)
      if (target === undefined) throw new RefusalError(refusal('noLeader'))
      const all = Object.entries({
        // A controller with a valid proof may use any host name.
        host: 'localhost',
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
        ...headers,
      }).flat()
      const value = this.#proof.valueFor({
        ...{ receiver: target.id, listener: 'console', method, target: path, headers: all, client, body },
      })
      const answer = await this.#attempt(target, method, path, [passedOnHeader, value, ...all], body, signal)
      if (answer !== undefined) return answer
      if (monotonic() > deadline) throw new RefusalError(refusal('noLeader'))
    }
  }

  /**
   * Sends a request once.
   * @returns undefined: the request was not sent, or its receiver is not the leader and ignored it
   */
  #attempt(
    target: LeaderTarget,
    method: string,
    path: string,
    headers: string[],
    body: string,
    signal: AbortSignal,
  ): Promise<LeaderAnswer | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<LeaderAnswer | undefined>()
    const { host, port } = target.port
    const outgoing = send({ agent: target.agent, host, port, method, path, headers, signal })
    let reached = false
    outgoing.once('socket', () => {
      reached = true
    })
    outgoing.on('error', (error) => {
      if (reached) return reject(error)
      this.#resolver.refused('console', target, error.message)
      resolve(undefined)
    })
    const gone = (): void => {
      startTimer(clusterTimes.lastConsoleAnswer, () => outgoing.destroy(new Error('Another controller leads.')), false)
    }
    const unregister = onAbort(target.gone, gone)
    const endWatch = watchUnanswered({
      ...{ resolver: this.#resolver, listener: 'console' as const, target },
      cut: () => outgoing.destroy(new Error('The leader cannot be reached.')),
    })
    outgoing.once('response', (response) => {
      const { statusCode: status = 502, headers: received } = response
      // The receiver is not the leader, or the proof had expired on arrival.
      if (status === 421) {
        response.resume()
        this.#resolver.refused('console', target, doesNotLead)
        resolve(undefined)
        return
      }
      let bytes = 0
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > maxBytes) outgoing.destroy(new Error('The answer is too long.'))
      })
      text(response).then((answer) => resolve({ status, headers: received, body: answer }), reject)
    })
    outgoing.end(body)
    return promise.finally(() => {
      endWatch()
      unregister()
    })
  }
}
