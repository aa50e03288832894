import { NodeError } from '../../port/media-node-port.ts'
import { JanusHandle, type JanusPlugin } from './janus-handle.ts'
import type { JanusMessage } from './janus-message.ts'
import type { JanusRequest, JanusSocket } from './janus-socket.ts'

/** Milliseconds from one sign of life to the next: the time in which a session may be claimed counts from the last. */
const keepAliveMs = 5_000
const never = new AbortController().signal

/** A handle as another connection knew it. */
export interface KnownHandle {
  id: number
  plugin: JanusPlugin
}

/**
 * A session with Janus, in which handles live. It is kept alive for as long as its socket is; it ends when Janus says so, or with its socket, after which another socket may
 * claim it.
 */
export class JanusSession {
  readonly id: number
  readonly #socket: JanusSocket
  readonly #handles = new Map<number, JanusHandle>()
  readonly #ended = Promise.withResolvers<string>()
  readonly #timer: NodeJS.Timeout
  #end: string | undefined

  private constructor(socket: JanusSocket, id: number) {
    this.id = id
    this.#socket = socket
    this.#timer = setInterval(() => this.#keepAlive(), keepAliveMs)
    this.#timer.unref()
    socket.listen(id, {
      event: (message) => this.#hear(message),
      ended: (why) => this.#finish(why),
    })
  }

  /** Opens one. @throws as JanusSocket.request */
  static async create(socket: JanusSocket, signal: AbortSignal): Promise<JanusSession> {
    const tooLate = ({ data }: JanusMessage): void => {
      // Janus ends it when it hears nothing for its session timeout.
      if (data !== undefined) socket.request({ janus: 'destroy', session_id: data.id }, never).catch(() => {})
    }
    const { data } = await socket.request({ janus: 'create' }, signal, tooLate)
    if (data === undefined) throw new NodeError('its answer names no session')
    return new JanusSession(socket, data.id)
  }

  /**
   * Claims a session that was opened through another socket, with its handles; events meanwhile are lost.
   * @throws JanusError noSession when it is over; as JanusSocket.request
   */
  static async claim(
    socket: JanusSocket,
    id: number,
    handles: readonly KnownHandle[],
    signal: AbortSignal,
  ): Promise<JanusSession> {
    // Listens before the request, so that events at the moment of the answer are not missed.
    const session = new JanusSession(socket, id)
    for (const { id: handleId, plugin } of handles) session.#add(handleId, plugin)
    try {
      await session.request({ janus: 'claim' }, signal)
      return session
    } catch (error) {
      session.release()
      throw error
    }
  }

  /** Resolves with the reason when it is over, for this side at least. */
  get ended(): Promise<string> {
    return this.#ended.promise
  }

  get isOpen(): boolean {
    return this.#end === undefined
  }

  /** A handle that it has. */
  handle(id: number): JanusHandle | undefined {
    return this.#handles.get(id)
  }

  /** A handle that it had before it was claimed, by which nobody here went yet. Whether it is there still shows when it is asked for something. */
  adopt(id: number, plugin: JanusPlugin): JanusHandle {
    return this.#handles.get(id) ?? this.#add(id, plugin)
  }

  /** A new handle of a plugin. @param opaqueId what Janus's events name it by @throws as JanusSocket.request */
  async attach(plugin: JanusPlugin, signal: AbortSignal, opaqueId?: string): Promise<JanusHandle> {
    const tooLate = ({ data }: JanusMessage): void => {
      // Janus ends it when it hears nothing for its session timeout.
      if (data !== undefined) this.request({ janus: 'detach', handle_id: data.id }, never).catch(() => {})
    }
    const request = { janus: 'attach', plugin, ...(opaqueId === undefined ? {} : { opaque_id: opaqueId }) }
    const { data } = await this.request(request, signal, tooLate)
    if (data === undefined) throw new NodeError('its answer names no handle')
    return this.#add(data.id, plugin)
  }

  /** Asks within this session. @throws as JanusSocket.request */
  request(request: JanusRequest, signal: AbortSignal, tooLate?: (answer: JanusMessage) => void): Promise<JanusMessage> {
    return this.#socket.request({ ...request, session_id: this.id }, signal, tooLate)
  }

  /** Ends it on Janus, with all of its handles. @throws as JanusSocket.request */
  async destroy(signal: AbortSignal): Promise<void> {
    try {
      if (this.isOpen) await this.request({ janus: 'destroy' }, signal)
    } finally {
      this.#finish('it was ended')
    }
  }

  /** Ends it in the background. If that fails, Janus ends it when it hears nothing for its session timeout. */
  drop(): void {
    // Janus ends it when it hears nothing for its session timeout.
    this.destroy(never).catch(() => {})
  }

  /** Leaves it on Janus as it is: another socket may claim it. */
  release(): void {
    this.#finish('it was given up')
  }

  #add(id: number, plugin: JanusPlugin): JanusHandle {
    const handle = new JanusHandle(this, id, plugin)
    this.#handles.set(id, handle)
    return handle
  }

  #hear(message: JanusMessage): void {
    if (message.janus === 'timeout') return this.#finish('it was not kept alive')
    const { sender } = message
    if (sender === undefined) return
    const handle = this.#handles.get(sender)
    if (message.janus === 'detached') this.#handles.delete(sender)
    handle?.take(message)
  }

  #keepAlive(): void {
    this.request({ janus: 'keepalive' }, never).catch((error: unknown) => {
      if (!this.isOpen) return
      // A node without an answer is gone, or hangs: the next connection shows which.
      this.#socket.close(error instanceof Error ? error.message : 'it was not kept alive')
      this.#finish('it was not kept alive')
    })
  }

  #finish(why: string): void {
    if (this.#end !== undefined) return
    this.#end = why
    clearInterval(this.#timer)
    this.#socket.forget(this.id)
    const handles = [...this.#handles.values()]
    this.#handles.clear()
    for (const handle of handles) handle.end(why)
    this.#ended.resolve(why)
  }
}
