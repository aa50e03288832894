import { setImmediate as nextTurn } from 'node:timers/promises'
import { sleep } from '../../../../shared/sleep.ts'
import { within } from '../../port/deadline.ts'
import { NodeConnectionError } from '../../port/media-node-port.ts'
import type { NodeLogger } from '../../port/node-failure.ts'
import type { JanusSession } from '../wire/janus-session.ts'
import type { JanusSocketOptions } from '../wire/janus-socket.ts'
import { LastingSession } from '../wire/lasting-session.ts'
import type { RelayRecords } from './relay-records.ts'
import type { RelayEnd } from './relay-ends.ts'

/** Needs of the session of a node. */
export interface RelaySessionOptions {
  /** Name of the node. */
  node: string
  socket: JanusSocketOptions
  records: RelayRecords
  logger: NodeLogger
}

/** A node that answers nothing for so long, in milliseconds, hangs. */
const hangMs = 600
/** Delay of this program's own check, in milliseconds, after which its result is not held against the node: it is queried again. */
const lateMs = 100
/**
 * The session in which the relays of one node live; it is opened when somebody needs it. When its connection is lost, or the controller ends, Janus keeps it for a while, and
 * what lives in it goes on there: the next connection claims it.
 */
export class RelaySession {
  readonly #options: RelaySessionOptions
  readonly #session: LastingSession
  readonly #closing = new AbortController()
  #question: Promise<boolean> | undefined
  #isLeft = false

  constructor(options: RelaySessionOptions) {
    const { node, socket, records, logger } = options
    this.#options = options
    this.#session = new LastingSession({
      socket,
      known: () => records.known(node),
      opened: (session) => this.#opened(session),
      // Relays in it are found in another session.
      lost: () => {},
      // Our observers come again by themselves.
      needed: () => false,
      logger,
    })
  }

  /** @throws NodeError, NodeConnectionError, DeadlineError; the signal's reason */
  get(signal: AbortSignal): Promise<JanusSession> {
    return this.#session.get(signal)
  }

  /** Whether Janus answers within a moment; callers meanwhile share the answer. Never rejects. */
  answers(): Promise<boolean> {
    this.#question ??= this.#ask().finally(() => {
      this.#question = undefined
    })
    return this.#question
  }

  /** Takes a handle away, now or as soon as the node is reached again. Never rejects. */
  async detach(end: RelayEnd, signal: AbortSignal): Promise<void> {
    const { current } = this.#session
    try {
      if (current?.id === end.session) return await current.handle(end.handle)?.detach(signal)
    } catch (error) {
      this.#options.logger.debug({ err: error }, 'an end of a relay could not be taken away yet')
    }
    this.#options.records.leaveBehind(this.#options.node, end)
  }

  /** Leaves its handles to the next controller when it is closed. */
  leave(): void {
    this.#isLeft = true
  }

  /** Ends it on Janus, with everything in it, unless that is left. Never rejects. */
  async close(signal: AbortSignal): Promise<void> {
    this.#closing.abort(new NodeConnectionError('the node was taken out of service'))
    await this.#session.close(this.#isLeft, signal)
  }

  #opened(session: JanusSession): Promise<void> {
    const { node, records } = this.#options
    for (const { handle } of records.straysOf(node)) session.handle(handle)?.drop()
    records.use(node, session.id)
    return Promise.resolve()
  }

  async #ask(): Promise<boolean> {
    for (;;) {
      const began = performance.now()
      // Messages from a pause of this program are read before the time is over.
      const late = sleep(hangMs, { ref: false }).then(() => nextTurn(false))
      if (await Promise.race([this.#answered(), late])) return true
      if (this.#closing.signal.aborted || performance.now() - began < hangMs + lateMs) return false
    }
  }

  async #answered(): Promise<boolean> {
    try {
      await within({ milliseconds: 2 * hangMs, signal: this.#closing.signal }, async (signal) => {
        const session = await this.get(signal)
        await session.request({ janus: 'keepalive' }, signal)
      })
      return true
    } catch {
      // Its failure is the answer.
      return false
    }
  }
}
