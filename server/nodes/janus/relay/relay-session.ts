import { within } from '../../deadline.ts'
import { NodeConnectionError } from '../../media-node.ts'
import { isJanusError, janusCodes } from '../janus-error.ts'
import { JanusSession } from '../janus-session.ts'
import { JanusSocket, type JanusSocketOptions } from '../janus-socket.ts'
import { KeptOpen } from '../kept-open.ts'

/** A node that answers nothing for so long, in milliseconds, hangs. */
const hangMs = 600

/**
 * The session in which the relays of one node live; it is opened when somebody needs it. When its connection is lost, Janus may keep it for a while, and what lives in it goes on
 * there without anybody to hear of it: the next connection ends it first.
 */
export class RelaySession {
  readonly #socket: JanusSocketOptions
  readonly #closing = new AbortController()
  readonly #session = new KeptOpen(() => this.#open())
  #connection: JanusSocket | undefined
  #question: Promise<boolean> | undefined
  /** Of a session that was lost. */
  #lost: number | undefined

  constructor(socket: JanusSocketOptions) {
    this.#socket = socket
  }

  /** @throws NodeError, NodeConnectionError, DeadlineError; the signal's reason */
  get(signal: AbortSignal): Promise<JanusSession> {
    if (this.#closing.signal.aborted) return Promise.reject(closedError())
    return this.#session.get(signal)
  }

  /** Whether Janus answers within a moment; whoever asks meanwhile shares the answer. Never rejects. */
  answers(): Promise<boolean> {
    this.#question ??= this.#ask().finally(() => {
      this.#question = undefined
    })
    return this.#question
  }

  /** Ends it on Janus, with everything in it. Never rejects. */
  async close(signal: AbortSignal): Promise<void> {
    this.#closing.abort(closedError())
    const session = await this.#session.current()
    await session?.destroy(signal).catch(() => {})
    this.#connection?.close()
  }

  async #ask(): Promise<boolean> {
    try {
      await within({ milliseconds: hangMs, signal: this.#closing.signal }, async (signal) => {
        const session = await this.get(signal)
        await session.request({ janus: 'keepalive' }, signal)
      })
      return true
    } catch {
      return false
    }
  }

  async #open(): Promise<JanusSession> {
    const { signal } = this.#closing
    const socket = await JanusSocket.open(this.#socket, signal)
    try {
      await this.#endLost(socket, signal)
      const session = await JanusSession.create(socket, signal)
      this.#connection = socket
      void session.ended.then((why) => {
        this.#lost = session.id
        socket.close(why)
      })
      return session
    } catch (error) {
      socket.close()
      throw error
    }
  }

  async #endLost(socket: JanusSocket, signal: AbortSignal): Promise<void> {
    if (this.#lost === undefined) return
    try {
      const session = await JanusSession.claim(socket, this.#lost, [], signal)
      await session.destroy(signal)
    } catch (error) {
      if (!isJanusError(error, janusCodes.noSession)) throw error
    }
    this.#lost = undefined
  }
}

function closedError(): NodeConnectionError {
  return new NodeConnectionError('the node was taken out of service')
}
