import { type Backoff, backoffMs } from '../../../../shared/backoff.ts'
import { unlessAborted } from '../../../../shared/abort.ts'
import { mustNotFail } from '../../../../shared/unawaited.ts'
import { NodeConnectionError } from '../../port/media-node-port.ts'
import type { NodeLogger } from '../../port/node-failure.ts'
import { isJanusError, janusCodes } from './janus-error.ts'
import { JanusSession, type KnownHandle } from './janus-session.ts'
import { JanusSocket, type JanusSocketOptions } from './janus-socket.ts'

export interface LastingSessionOptions {
  socket: JanusSocketOptions
  /** Returns the previous session with its handles; undefined: a new session is opened. */
  known(): { id: number; handles: readonly KnownHandle[] } | undefined
  /**
   * Called with a claimed or new session. Callers of `get` receive the session only when the returned promise resolves.
   */
  opened(session: JanusSession, isClaimed: boolean, signal: AbortSignal): Promise<void>
  /**
   * Called when the session has ended.
   * @param isFound true: the node is reachable, but has no such session; false: the node was unreachable for too long
   */
  lost(why: string, isFound: boolean): void
  /** Returns whether the session has handles in use. If so, the session is reconnected automatically. */
  needed(): boolean
  logger: NodeLogger
}

/**
 * Delays between attempts; the first retry has no delay. `laterMs` applies after more than `maxSoonFailures` failures.
 */
const connectBackoff: Backoff = { first: 250, max: 2_000 }
const [maxSoonFailures, laterMs] = [5, 5_000]
/**
 * Time without a keepalive, in milliseconds, after which Janus has certainly ended a session: 60 s, and up to 4 s until
 * its watchdog runs.
 */
const overAfterMs = 65_000
/** Duration of a connection, in milliseconds, after which it is reopened without delay. */
const steadyMs = 5_000
const never = new AbortController().signal

/**
 * Session with a node that outlives its sockets and the controller. The next connection or controller claims it, and
 * continues with its handles.
 */
export class LastingSession {
  readonly #options: LastingSessionOptions
  readonly #closing = new AbortController()
  #current: { session: JanusSession; socket: JanusSocket } | undefined
  #attempt: Promise<JanusSession> | undefined
  #failures = 0
  #aliveAt = performance.now()
  #connectedAt = 0
  #timer: NodeJS.Timeout | undefined

  constructor(options: LastingSessionOptions) {
    this.#options = options
  }

  /** Returns the session; undefined while there is no connection. */
  get current(): JanusSession | undefined {
    return this.#current?.session.isOpen === true ? this.#current.session : undefined
  }

  /**
   * Returns the session, and connects if necessary.
   * @throws NodeError, NodeConnectionError, DeadlineError; the signal's reason
   */
  get(signal: AbortSignal): Promise<JanusSession> {
    if (this.#closing.signal.aborted) return Promise.reject(closedError())
    const { current } = this
    if (current !== undefined) return Promise.resolve(current)
    if (this.#attempt === undefined) {
      const attempt = this.#open()
      this.#attempt = attempt
      attempt.then(
        () => this.#connected(),
        (error: unknown) => this.#failed(error),
      )
    }
    return unlessAborted(this.#attempt, signal)
  }

  /** Connects in the background if the session has handles in use. */
  start(): void {
    // A failed attempt is logged and repeated.
    if (this.#options.needed()) this.get(never).catch(() => {})
  }

  /**
   * Closes the connection.
   * @param leave whether the session is kept on Janus, so that it can be claimed
   */
  async close(leave: boolean, signal: AbortSignal): Promise<void> {
    this.#closing.abort(closedError())
    clearTimeout(this.#timer)
    // `#failed` has logged the failure.
    await this.#attempt?.catch(() => {})
    try {
      if (leave) this.#current?.session.release()
      else await this.#current?.session.destroy(signal)
    } catch (error) {
      this.#options.logger.debug({ err: error }, 'could not end a session with a Janus node: it will expire')
    } finally {
      this.#current?.socket.close()
    }
  }

  async #open(): Promise<JanusSession> {
    const { signal } = this.#closing
    const socket = await JanusSocket.open(this.#options.socket, signal)
    try {
      const session = (await this.#claim(socket, signal)) ?? (await this.#create(socket, signal))
      this.#current = { session, socket }
      mustNotFail(session.ended.then((why) => this.#ended(session, why)))
      return session
    } catch (error) {
      socket.close()
      throw error
    }
  }

  async #claim(socket: JanusSocket, signal: AbortSignal): Promise<JanusSession | undefined> {
    const known = this.#options.known()
    if (known === undefined) return undefined
    try {
      const session = await JanusSession.claim(socket, known.id, known.handles, signal)
      await this.#options.opened(session, true, signal)
      return session
    } catch (error) {
      if (!isJanusError(error, janusCodes.noSession)) throw error
      this.#options.lost('its session is over', true)
      return undefined
    }
  }

  async #create(socket: JanusSocket, signal: AbortSignal): Promise<JanusSession> {
    const session = await JanusSession.create(socket, signal)
    await this.#options.opened(session, false, signal)
    return session
  }

  #connected(): void {
    this.#attempt = undefined
    this.#connectedAt = performance.now()
  }

  #failed(error: unknown): void {
    this.#attempt = undefined
    if (this.#closing.signal.aborted) return
    this.#options.logger.debug({ err: error }, 'could not connect to a Janus node')
    if (performance.now() - this.#aliveAt > overAfterMs) this.#options.lost('its node was away for too long', false)
    this.#failures += 1
    this.#again()
  }

  #ended(session: JanusSession, why: string): void {
    if (this.#current?.session !== session) return
    this.#current.socket.close(why)
    this.#current = undefined
    this.#aliveAt = performance.now()
    // A connection that ends soon after it was opened counts as a failure.
    this.#failures = this.#aliveAt - this.#connectedAt > steadyMs ? 0 : this.#failures + 1
    if (this.#closing.signal.aborted) return
    this.#options.logger.info({ why }, 'the connection to a Janus node was lost')
    this.#again()
  }

  #again(): void {
    if (!this.#options.needed()) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.start(), waitAfter(this.#failures))
    this.#timer.unref()
  }
}

/**
 * Returns the delay of the next attempt, in milliseconds.
 * @param failures number of consecutive failures
 */
function waitAfter(failures: number): number {
  if (failures === 0) return 0
  return failures > maxSoonFailures ? laterMs : backoffMs(connectBackoff, failures)
}

function closedError(): NodeConnectionError {
  return new NodeConnectionError('the node was taken out of service')
}
