import { unlessAborted } from '../../../../shared/abort.ts'
import { within } from '../../port/deadline.ts'
import { NodeConnectionError } from '../../port/media-node-port.ts'
import { JanusSession } from '../wire/janus-session.ts'
import { JanusSocket, type JanusSocketOptions } from '../wire/janus-socket.ts'

const defaultActMs = 5_000

/** Connection to one Janus for the people of the room page; opened on demand, closed when the node leaves service. */
export class PeopleConnection {
  /** Timeout of joining, publishing and watching, in milliseconds. */
  readonly actMs: number
  readonly socket: KeptOpen<JanusSocket>
  readonly #closing = new AbortController()

  constructor(options: JanusSocketOptions, actMs = defaultActMs) {
    this.actMs = actMs
    this.socket = new KeptOpen(() => JanusSocket.open(options, this.#closing.signal))
  }

  /** Aborts when the connection is closed. */
  get closing(): AbortSignal {
    return this.#closing.signal
  }

  /**
   * Opens a session.
   * @throws the errors of JanusSession.create; the signal's reason
   */
  async createSession(signal: AbortSignal): Promise<JanusSession> {
    return await JanusSession.create(await this.socket.get(signal), signal)
  }

  /**
   * Runs a request of a person with its timeout.
   * @throws the errors of `run`; DeadlineError; NodeConnectionError after `close`; the signal's reason
   */
  act<T>(signal: AbortSignal, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return within({ milliseconds: this.actMs, signal: AbortSignal.any([signal, this.#closing.signal]) }, run)
  }

  async close(): Promise<void> {
    this.#closing.abort(new NodeConnectionError('the node was taken out of service'))
    const socket = await this.socket.current()
    socket?.close()
  }
}

/** A shared connection or session, which is opened on demand, and reopened after it has ended. */
export class KeptOpen<T extends { readonly isOpen: boolean }> {
  readonly #open: () => Promise<T>
  #current: Promise<T> | undefined

  constructor(open: () => Promise<T>) {
    this.#open = open
  }

  /**
   * Returns the latest connection, after waiting until it is open. Returns undefined if it could not be opened, or none
   * was requested. Never rejects.
   */
  async current(): Promise<T | undefined> {
    // The error is reported by `get`.
    return await this.#current?.catch(() => undefined)
  }

  /**
   * Returns an open connection, and opens it if necessary.
   * @throws the error of opening the connection; the signal's reason
   */
  async get(signal: AbortSignal): Promise<T> {
    for (;;) {
      const shared = (this.#current ??= this.#begin())
      const opened = await unlessAborted(shared, signal)
      if (opened.isOpen) return opened
      this.#forget(shared)
    }
  }

  #begin(): Promise<T> {
    const begun = this.#open()
    // The caller gets the error; the next call tries again.
    begun.catch(() => this.#forget(begun))
    return begun
  }

  /** Drops a connection, unless another connection has already replaced it. */
  #forget(one: Promise<T>): void {
    if (this.#current === one) this.#current = undefined
  }
}
