import { NodeError } from '../../port/media-node-port.ts'
import { isJanusError, janusCodes } from './janus-error.ts'
import type { JanusCandidate, JanusMessage, Jsep, PluginMessage } from './janus-message.ts'
import type { JanusRequest } from './janus-socket.ts'

const never = new AbortController().signal

/** The plugins that are used. */
export type JanusPlugin = 'janus.plugin.videoroom' | 'janus.plugin.streaming'

/** Events of a handle. */
export type HandleEvent =
  /** Its plugin speaks. */
  | ({ type: 'plugin' } & PluginMessage)
  /** A candidate of Janus's end. */
  | { type: 'trickle'; candidate: JanusCandidate }
  /** Its PeerConnection is up. */
  | { type: 'webrtcup' }
  /** Whether Janus receives media of this kind; first sent when it begins, then when it stops for a second or comes again. */
  | { type: 'media'; media: string; mid: string; receiving: boolean }
  /** Its PeerConnection is gone. */
  | { type: 'hangup'; reason: string }
  /** It is gone: nothing comes after this. */
  | { type: 'detached'; reason: string }

/** The session that a handle lives in. */
export interface HandleSession {
  readonly id: number
  readonly isOpen: boolean
  /** @throws as JanusSocket.request */
  request(request: JanusRequest, signal: AbortSignal): Promise<JanusMessage>
}

/** One end of a plugin: it publishes or subscribes, with one PeerConnection. */
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

  /** It was detached, or its session is over. */
  get isDetached(): boolean {
    return this.#detached
  }

  /** Calls the listener with its events. Returns the unsubscribe function. */
  onEvent(listener: (event: HandleEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Asks its plugin. @throws JanusError, also of the plugin; as JanusSocket.request */
  async request(body: Readonly<Record<string, unknown>>, signal: AbortSignal, jsep?: Jsep): Promise<PluginMessage> {
    const request = { janus: 'message', handle_id: this.id, body, ...(jsep === undefined ? {} : { jsep }) }
    const answer = await this.session.request(request, signal)
    if (answer.plugindata === undefined) throw new NodeError('its plugin answered nothing')
    return { data: answer.plugindata.data, jsep: answer.jsep }
  }

  /** Sends a candidate of the other end. @throws as JanusSocket.request */
  async trickle(candidate: JanusCandidate, signal: AbortSignal): Promise<void> {
    await this.session.request({ janus: 'trickle', handle_id: this.id, candidate }, signal)
  }

  /** It is gone; one that is gone is no error. @throws as JanusSocket.request */
  async detach(signal: AbortSignal): Promise<void> {
    if (this.#detached) return
    try {
      await this.session.request({ janus: 'detach', handle_id: this.id }, signal)
    } catch (error) {
      if (!isJanusError(error, janusCodes.noHandle, janusCodes.noSession)) throw error
    }
    // Janus tells so, too, a moment later.
    this.end('it was detached')
  }

  /** Detaches it in the background. */
  drop(): void {
    // If that fails, it ends with its session.
    this.detach(never).catch(() => {})
  }

  /** A message of Janus about it; its session hands it on. */
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

  /** It is over. */
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
