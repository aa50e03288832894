import { type IncomingMessage, request as send } from 'node:http'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { WebSocket } from 'ws'
import { z } from 'zod'
import { onAbort } from '../../shared/abort.ts'
import { type EventPayload, events } from '../../shared/console/contract.ts'
import type { EventName } from '../../shared/console/event-names.ts'
import { consoleRefusal, type ConsoleResult, RefusalError } from '../../shared/domain/outcome.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import { mustNotFail } from '../../shared/unawaited.ts'
import { refused, resultOfError } from '../console/console-answer.ts'
import type { EventHub } from '../console/event-hub.ts'
import type { CallOrigin } from '../console/handlers.ts'
import { callerHeader } from '../console/passed-on-calls.ts'
import { passedOnHeader } from '../edge/passed-on.ts'
import type { RequestProof } from '../edge/request-proof.ts'
import type { Log } from '../observe/log.ts'
import { clusterTimes } from '../store/election/timings.ts'
import { monotonic, pauseOn, startTimer, timeoutSignal } from '../store/system/time.ts'
import { connectToLeader } from './leader-connection.ts'
import { doesNotLead, type LeaderResolver, type LeaderTarget, watchUnanswered } from './leader-resolver.ts'

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
const maxAnswerBytes = 32 * 1024 * 1024

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
        if (bytes > maxAnswerBytes) outgoing.destroy(new Error('The answer is too long.'))
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

/** Maximum size of a message, in bytes: the limit of the console's send queue. */
const maxMessageBytes = 16 * 1024 * 1024

interface LeaderEventsOptions {
  hub: EventHub
  resolver: LeaderResolver
  console: LeaderConsole
  log: Log
  /** Whether this controller's pages may receive events now. */
  mayShow: () => boolean
  /** Called when events arrive again after a gap: after a reconnection, or after events were withheld from pages. */
  began: () => void
}

/** Forwards the events of the leader to a replica's pages, while pages are open. */
export class LeaderEvents {
  readonly #hub: EventHub
  readonly #resolver: LeaderResolver
  readonly #console: LeaderConsole
  readonly #log: Log
  readonly #mayShow: () => boolean
  readonly #began: () => void
  #withheld = false
  #following: AbortController | undefined

  constructor({ hub, resolver, console, log, mayShow, began }: LeaderEventsOptions) {
    this.#hub = hub
    this.#resolver = resolver
    this.#console = console
    this.#log = log
    this.#mayShow = mayShow
    this.#began = began
    hub.watch((listening) => {
      this.#following?.abort()
      this.#following = listening ? new AbortController() : undefined
      if (this.#following !== undefined) mustNotFail(this.#follow(this.#following.signal))
    })
  }

  close(): void {
    this.#following?.abort()
  }

  async #follow(signal: AbortSignal): Promise<void> {
    let connections = 0
    while (!signal.aborted) {
      try {
        await this.#listen(signal, () => {
          if (connections++ > 0) this.#began()
        })
      } catch (error) {
        if (signal.aborted) return
        this.#log.debug({ err: error }, 'the console of the leader sends no events')
      }
      await pauseOn(clusterTimes.eventsAgain, { signal, ref: false })
    }
  }

  /** Receives events over one connection. Resolves when the connection has ended. */
  async #listen(signal: AbortSignal, open: () => void): Promise<void> {
    const target = await this.#resolver.next('console', monotonic() + clusterTimes.eventsLeader, signal)
    if (target === undefined) return
    const { promise: connected, resolve, reject } = Promise.withResolvers<Socket>()
    connectToLeader(target.port, (error, socket) => {
      if (error === null) return resolve(socket)
      this.#resolver.refused('console', target, error.message)
      reject(error)
    })
    const socket = await connected
    const headers = this.#console.headersForEvents(target.id)
    const client = new WebSocket('ws://localhost/ws', {
      createConnection: () => socket,
      headers,
      maxPayload: maxMessageBytes,
    })
    const end = (): void => client.terminate()
    const ends = AbortSignal.any([signal, target.gone, target.cut])
    const unregister = onAbort(ends, end)
    let silent = startTimer(clusterTimes.eventsSilent, end, false)
    const alive = (): void => {
      silent.cancel()
      silent = startTimer(clusterTimes.eventsSilent, end, false)
    }
    const closed = new Promise<void>((done) => client.once('close', () => done()))
    client.on('error', end)
    client.on('ping', alive)
    client.once('open', open)
    client.on('message', (data: Buffer) => {
      alive()
      this.#notify(data.toString('utf8'))
    })
    await closed
    silent.cancel()
    unregister()
  }

  #notify(message: string): void {
    const { event: name, payload } = JSON.parse(message) as { event?: string; payload?: unknown }
    // Every controller sends its own `controllers.changed`, because the contents differ.
    if (name === undefined || !Object.hasOwn(events, name) || name === 'controllers.changed') return
    if (!this.#mayShow()) {
      this.#withheld = true
      return
    }
    if (this.#withheld) {
      this.#withheld = false
      return this.#began()
    }
    const known = name as EventName
    this.#hub.emit(known, payload as EventPayload<typeof known>)
  }
}
