import { NodeError } from '../../port/media-node-port.ts'
import { JanusHandle, type JanusPlugin } from './janus-handle.ts'
import type { JanusMessage, JanusRequest, JanusSocket } from './janus-socket.ts'

/**
 * Interval of keepalive requests, in milliseconds. The time in which a session can be claimed starts at the last
 * keepalive.
 */
const keepAliveMs = 5_000
const never = new AbortController().signal

/** A handle of an earlier connection. */
export interface KnownHandle {
  id: number
  plugin: JanusPlugin
}

/**
 * A session with Janus, which contains handles. The session is kept alive while its socket is open. It ends when Janus
 * ends it, or with its socket; in the latter case, another socket may claim it.
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

  /**
   * Opens a session.
   * @throws the errors of JanusSocket.request
   */
  static async create(socket: JanusSocket, signal: AbortSignal): Promise<JanusSession> {
    const tooLate = ({ data }: JanusMessage): void => {
      // If this fails, Janus ends the session after its session timeout.
      if (data !== undefined) socket.request({ janus: 'destroy', session_id: data.id }, never).catch(() => {})
    }
    const { data } = await socket.request({ janus: 'create' }, signal, tooLate)
    if (data === undefined) throw new NodeError('its answer names no session')
    return new JanusSession(socket, data.id)
  }

  /**
   * Claims a session, with its handles, that was opened through another socket. Events between the two sockets are
   * lost.
   * @throws JanusError noSession if the session has ended; the errors of JanusSocket.request
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

  /** Resolves with the reason when the session has ended or was released. */
  get ended(): Promise<string> {
    return this.#ended.promise
  }

  get isOpen(): boolean {
    return this.#end === undefined
  }

  handle(id: number): JanusHandle | undefined {
    return this.#handles.get(id)
  }

  /**
   * Registers a handle that existed before the session was claimed. Its first request shows whether it still exists.
   */
  adopt(id: number, plugin: JanusPlugin): JanusHandle {
    return this.#handles.get(id) ?? this.#add(id, plugin)
  }

  /**
   * Attaches a new handle of a plugin.
   * @param opaqueId name of the handle in Janus's events
   * @throws the errors of JanusSocket.request
   */
  async attach(plugin: JanusPlugin, signal: AbortSignal, opaqueId?: string): Promise<JanusHandle> {
    const tooLate = ({ data }: JanusMessage): void => {
      // If this fails, Janus detaches the handle when the session ends.
      if (data !== undefined) this.request({ janus: 'detach', handle_id: data.id }, never).catch(() => {})
    }
    const request = { janus: 'attach', plugin, ...(opaqueId === undefined ? {} : { opaque_id: opaqueId }) }
    const { data } = await this.request(request, signal, tooLate)
    if (data === undefined) throw new NodeError('its answer names no handle')
    return this.#add(data.id, plugin)
  }

  /**
   * Sends a request within this session.
   * @throws the errors of JanusSocket.request
   */
  request(request: JanusRequest, signal: AbortSignal, tooLate?: (answer: JanusMessage) => void): Promise<JanusMessage> {
    return this.#socket.request({ ...request, session_id: this.id }, signal, tooLate)
  }

  /**
   * Ends the session on Janus, with all of its handles.
   * @throws the errors of JanusSocket.request
   */
  async destroy(signal: AbortSignal): Promise<void> {
    try {
      if (this.isOpen) await this.request({ janus: 'destroy' }, signal)
    } finally {
      this.#finish('it was ended')
    }
  }

  /** Ends the session in the background. */
  drop(): void {
    // If this fails, Janus ends the session after its session timeout.
    this.destroy(never).catch(() => {})
  }

  /** Stops using the session without ending it on Janus. Another socket may claim it. */
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
      // A node that does not answer is offline or hangs. The next connection shows whether the node hangs.
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
