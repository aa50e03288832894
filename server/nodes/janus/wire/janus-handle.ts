import { NodeError } from '../../port/media-node-port.ts'
import { isJanusError, janusCodes } from './janus-error.ts'
import type { JanusCandidate, JanusMessage, JanusRequest, Jsep, PluginMessage } from './janus-socket.ts'

const never = new AbortController().signal

export type JanusPlugin = 'janus.plugin.videoroom' | 'janus.plugin.streaming'

export type HandleEvent =
  /** A message of the plugin. */
  | ({ type: 'plugin' } & PluginMessage)
  /** An ICE candidate of Janus. */
  | { type: 'trickle'; candidate: JanusCandidate }
  /** The PeerConnection of the handle is connected. */
  | { type: 'webrtcup' }
  /**
   * Whether Janus receives media of this kind. Sent when reception begins, when it stops for a second, and when it
   * resumes.
   */
  | { type: 'media'; media: string; mid: string; receiving: boolean }
  /** The PeerConnection of the handle has ended. */
  | { type: 'hangup'; reason: string }
  /** The handle no longer exists. This is the last event of the handle. */
  | { type: 'detached'; reason: string }

export interface HandleSession {
  readonly id: number
  readonly isOpen: boolean
  /** @throws the errors of JanusSocket.request */
  request(request: JanusRequest, signal: AbortSignal): Promise<JanusMessage>
}

/** A handle of a plugin. It publishes or subscribes over one PeerConnection. */
export class JanusHandle {
  readonly id: number
  readonly plugin: JanusPlugin
  readonly session: HandleSession
  readonly #listeners = new Set<(event: HandleEvent) => void>()
  #detached = false

  constructor(session: HandleSession, id: number, plugin: JanusPlugin) {
    this.session = session
    this.id = id
    this.plugin = plugin
  }

  /** Returns whether the handle was detached, or its session has ended. */
  get isDetached(): boolean {
    return this.#detached
  }

  /** Calls the listener with the events of the handle. Returns the unsubscribe function. */
  onEvent(listener: (event: HandleEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Sends a request to the plugin.
   * @throws JanusError, also of the plugin; the errors of JanusSocket.request
   */
  async request(body: Readonly<Record<string, unknown>>, signal: AbortSignal, jsep?: Jsep): Promise<PluginMessage> {
    const request = { janus: 'message', handle_id: this.id, body, ...(jsep === undefined ? {} : { jsep }) }
    const answer = await this.session.request(request, signal)
    if (answer.plugindata === undefined) throw new NodeError('its plugin answered nothing')
    return { data: answer.plugindata.data, jsep: answer.jsep }
  }

  /**
   * Sends an ICE candidate of the peer.
   * @throws the errors of JanusSocket.request
   */
  async trickle(candidate: JanusCandidate, signal: AbortSignal): Promise<void> {
    await this.session.request({ janus: 'trickle', handle_id: this.id, candidate }, signal)
  }

  /**
   * Detaches the handle. Does nothing if it no longer exists.
   * @throws the errors of JanusSocket.request
   */
  async detach(signal: AbortSignal): Promise<void> {
    if (this.#detached) return
    try {
      await this.session.request({ janus: 'detach', handle_id: this.id }, signal)
    } catch (error) {
      if (!isJanusError(error, janusCodes.noHandle, janusCodes.noSession)) throw error
    }
    // Janus also sends a `detached` event shortly afterwards.
    this.end('it was detached')
  }

  /** Detaches the handle in the background. */
  drop(): void {
    // If that fails, the handle ends with its session.
    this.detach(never).catch(() => {})
  }

  /** Handles a message of Janus for this handle. Called by its session. */
  take(message: JanusMessage): void {
    switch (message.janus) {
      case 'event':
        if (message.plugindata !== undefined)
          this.#notify({ type: 'plugin', data: message.plugindata.data, jsep: message.jsep })
        break
      case 'trickle':
        if (message.candidate !== undefined) this.#notify({ type: 'trickle', candidate: message.candidate })
        break
      case 'webrtcup':
        this.#notify({ type: 'webrtcup' })
        break
      case 'media': {
        const { type = '', mid = '', receiving = false } = message
        this.#notify({ type: 'media', media: type, mid, receiving })
        break
      }
      case 'hangup':
        this.#notify({ type: 'hangup', reason: message.reason ?? '' })
        break
      case 'detached':
        this.end('it was detached')
        break
    }
  }

  /** Marks the handle as detached, and notifies the listeners. */
  end(reason: string): void {
    if (this.#detached) return
    this.#detached = true
    this.#notify({ type: 'detached', reason })
    this.#listeners.clear()
  }

  #notify(event: HandleEvent): void {
    for (const listener of [...this.#listeners]) listener(event)
  }
}
