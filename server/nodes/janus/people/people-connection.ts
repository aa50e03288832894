import { within } from '../../port/deadline.ts'
import { NodeConnectionError } from '../../port/media-node-port.ts'
import { JanusSession } from '../wire/janus-session.ts'
import { JanusSocket, type JanusSocketOptions } from '../wire/janus-socket.ts'
import { KeptOpen } from '../wire/kept-open.ts'

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
