import { type Backoff, backoffMs } from '../../../../shared/backoff.ts'
import { unlessAborted } from '../../../../shared/abort.ts'
import { mustNotFail } from '../../../../shared/unawaited.ts'
import { NodeConnectionError } from '../../port/media-node-port.ts'
import type { NodeLogger } from '../../port/node-failure.ts'
import { isJanusError, janusCodes } from './janus-error.ts'
import { JanusSession, type KnownHandle } from './janus-session.ts'
import { JanusSocket, type JanusSocketOptions } from './janus-socket.ts'

/** Needs of a lasting session. */
export interface LastingSessionOptions {
  socket: JanusSocketOptions
  /** The session of before with what lives in it; undefined: a new one is opened. */
  known(): { id: number; handles: readonly KnownHandle[] } | undefined
  /** There is a session: that of before, or a new one. Nobody else gets it before this resolves. */
  opened(session: JanusSession, isClaimed: boolean, signal: AbortSignal): Promise<void>
  /** Called when the session is gone. @param isFound the node is there without it; otherwise it was away for too long */
  lost(why: string, isFound: boolean): void
  /** Something lives in it: it is connected to again by itself. */
  needed(): boolean
  logger: NodeLogger
}

/** Waits between attempts after the first one, which follows at once; and the wait, in milliseconds, once so many have failed. */
const connectBackoff: Backoff = { first: 250, max: 2_000 }
const [maxSoonFailures, laterMs] = [5, 5_000]
/** After so many milliseconds without a sign of life Janus has ended it (60 s, and up to 4 s until its watchdog looks). */
const overAfterMs = 65_000
/** A connection that lasted so long, in milliseconds, is made again at once. */
const steadyMs = 5_000
const never = new AbortController().signal

/** Session of a node that outlives its sockets, and the controller: the next one claims it, and continues with its handles. */
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

  /** The session as it is now; undefined while there is no connection. */
  get current(): JanusSession | undefined {
    return this.#current?.session.isOpen === true ? this.#current.session : undefined
  }

  /** The session; connects where it must. @throws NodeError, NodeConnectionError, DeadlineError; the signal's reason */
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

  /** Connects in the background where something lives in it. */
  start(): void {
    // A failed attempt is logged and repeated.
    if (this.#options.needed()) this.get(never).catch(() => {})
  }

  /** Ends the connection. @param leave the session stays, to be claimed by somebody else */
  async close(leave: boolean, signal: AbortSignal): Promise<void> {
    this.#closing.abort(closedError())
    clearTimeout(this.#timer)
    // A failed attempt is logged and repeated.
    await this.#attempt?.catch(() => {})
    try {
      if (leave) this.#current?.session.release()
      else await this.#current?.session.destroy(signal)
    } catch (error) {
      this.#options.logger.debug({ err: error }, 'a session with a Janus node could not be ended: it ends by itself')
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
    this.#options.logger.debug({ err: error }, 'a Janus node could not be connected to')
    if (performance.now() - this.#aliveAt > overAfterMs) this.#options.lost('its node was away for too long', false)
    this.#failures += 1
    this.#again()
  }

  #ended(session: JanusSession, why: string): void {
    if (this.#current?.session !== session) return
    this.#current.socket.close(why)
    this.#current = undefined
    this.#aliveAt = performance.now()
    // One that ends as soon as it has begun is no success.
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

/** @param failures in a row @returns milliseconds */
function waitAfter(failures: number): number {
  if (failures === 0) return 0
  return failures > maxSoonFailures ? laterMs : backoffMs(connectBackoff, failures)
}

function closedError(): NodeConnectionError {
  return new NodeConnectionError('the node was taken out of service')
}
