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

export interface RelaySessionOptions {
  node: string
  socket: JanusSocketOptions
  records: RelayRecords
  logger: NodeLogger
}

/** Time without an answer, in milliseconds, after which a node counts as hanging. */
const hangMs = 600
/**
 * Delay of this process's own timer, in milliseconds, above which a missing answer is ignored and the node is queried
 * again.
 */
const lateMs = 100
/** Timeout for ending the session, in milliseconds. */
const endMs = 2_000

/**
 * The session with the relay handles of one node, opened on demand. If the connection is lost or the controller ends,
 * Janus keeps the session for a while with its relays; the next connection claims it.
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
      // Relays of a lost session are detected when another session is opened.
      lost: () => {},
      // The relay observers rejoin on their own.
      needed: () => false,
      logger,
    })
  }

  /**
   * Returns the session, and opens or claims it if necessary.
   * @throws NodeError, NodeConnectionError, DeadlineError; the signal's reason
   */
  get(signal: AbortSignal): Promise<JanusSession> {
    return this.#session.get(signal)
  }

  /** Returns whether Janus answers within `hangMs`. Concurrent callers share the result. Never rejects. */
  answers(): Promise<boolean> {
    this.#question ??= this.#ask().finally(() => {
      this.#question = undefined
    })
    return this.#question
  }

  /** Detaches a handle now, or as soon as the node is reachable again. Never rejects. */
  async detach(end: RelayEnd, signal: AbortSignal): Promise<void> {
    const { current } = this.#session
    try {
      if (current?.id === end.session) return await current.handle(end.handle)?.detach(signal)
    } catch (error) {
      this.#options.logger.debug({ err: error }, 'could not detach a handle of a relay: trying again later')
    }
    this.#options.records.leaveBehind(this.#options.node, end)
  }

  /** Makes `close` keep the session with its handles for the next controller. */
  leave(): void {
    this.#isLeft = true
  }

  /** Ends the session on Janus with all of its handles, unless `leave` was called. Never rejects. */
  async close(): Promise<void> {
    this.#closing.abort(new NodeConnectionError('the node was taken out of service'))
    await this.#session.close(this.#isLeft, AbortSignal.timeout(endMs))
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
      // Messages received while this process was blocked are handled before the timeout counts.
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
      // Any failure counts as no answer.
      return false
    }
  }
}
