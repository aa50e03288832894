import { hasWebRtc, NoWebRtcError } from './has-webrtc.ts'
import { lacksCodec, MediaRefusal } from './media-refusal.ts'
import type { OfferExchange } from './sdp-exchange.ts'
import { type MediaKind, WhepSession } from './whep-session.ts'

/** `waiting`: the next attempt follows; `refused`: the server refused for good. */
export type PlayerState = 'connecting' | 'connected' | 'waiting' | 'refused' | 'closed'

export interface PlayerListener {
  /** Tracks to show from now on; null for a kind that is not received. They replace the earlier ones. */
  tracks(video: MediaStreamTrack | null, audio: MediaStreamTrack | null): void
  /**
   * `problem`: reason of waiting or refusal. While connected: reason of the refused picture if only the sound is
   * played.
   */
  state(state: PlayerState, problem: unknown): void
}

const firstWaitMs = 500
const maxWaitMs = 10_000
/** Timeout from the answer to a connection, in milliseconds. */
const connectMs = 10_000
/** Refusals that no further attempt changes. */
const final: ReadonlySet<number> = new Set([400, 401, 403, 405, 406, 409, 415])

/** Watches a stream for as long as needed, and restarts when the connection breaks. */
export class LivePlayer {
  #way: OfferExchange
  readonly #kinds: readonly MediaKind[]
  readonly #listener: PlayerListener
  readonly #closed = new AbortController()
  #session: WhepSession | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #wait = firstWaitMs
  #waiting = false
  #attempt = 0

  constructor(way: OfferExchange, kinds: readonly MediaKind[], listener: PlayerListener) {
    this.#way = way
    this.#kinds = kinds
    this.#listener = listener
    window.addEventListener('online', () => this.#hurry(), { signal: this.#closed.signal })
    // The creator gets the player before its first event.
    queueMicrotask(() => void this.#start())
  }

  /** Current connection, for its statistics. */
  get connection(): RTCPeerConnection | undefined {
    return this.#session?.connection
  }

  /** Ticket with which another server can continue the session; empty: none. */
  get ticket(): string {
    return this.#session?.ticket ?? ''
  }

  /**
   * Uses another server from now on. Resolves to whether the current session continues on that server; if not, the
   * session stays on its server until it ends. Never rejects.
   */
  async moveTo(way: OfferExchange): Promise<boolean> {
    this.#way = way
    const session = this.#session
    // The next attempt uses the new server.
    if (session === undefined) return true
    return (await session.moveTo(way, this.#closed.signal)) || this.#session !== session
  }

  /**
   * Stops playing. Idempotent.
   * @param known the server ended the stream, so it needs no notification
   */
  close(known = false): void {
    if (this.#closed.signal.aborted) return
    this.#closed.abort()
    clearTimeout(this.#timer)
    this.#session?.close(known)
    this.#listener.state('closed', undefined)
  }

  async #start(): Promise<void> {
    if (this.#closed.signal.aborted) return
    this.#waiting = false
    const attempt = ++this.#attempt
    if (!hasWebRtc()) return this.#listener.state('refused', new NoWebRtcError())
    await this.#request(attempt, this.#kinds)
  }

  /** @param refusal of the picture, after which only the sound is requested; undefined: none */
  async #request(attempt: number, kinds: readonly MediaKind[], refusal?: unknown): Promise<void> {
    this.#listener.state('connecting', undefined)
    try {
      const session = await WhepSession.start(this.#way, kinds, this.#closed.signal, (byServer) => {
        if (attempt === this.#attempt) this.#again(undefined, byServer)
      })
      this.#session = session
      this.#listener.tracks(session.video, session.audio)
      this.#timer = setTimeout(() => this.#again(undefined), connectMs)
      const connected = (): void => {
        if (session.connection.connectionState !== 'connected' || attempt !== this.#attempt) return
        clearTimeout(this.#timer)
        this.#wait = firstWaitMs
        this.#listener.state('connected', refusal)
      }
      session.connection.addEventListener('connectionstatechange', connected)
      connected()
    } catch (error) {
      if (this.#closed.signal.aborted) return
      // The next attempt requests the picture again: the server may convert it by then.
      if (lacksCodec(error) && kinds.length > 1) return await this.#request(attempt, ['audio'], error)
      if (error instanceof MediaRefusal && final.has(error.status)) this.#listener.state('refused', error)
      else this.#again(error)
    }
  }

  #again(problem: unknown, known = false): void {
    if (this.#closed.signal.aborted) return
    this.#attempt += 1
    this.#session?.close(known)
    this.#session = undefined
    clearTimeout(this.#timer)
    this.#listener.state('waiting', problem)
    this.#waiting = true
    this.#timer = setTimeout(() => void this.#start(), this.#wait)
    this.#wait = Math.min(this.#wait * 2, maxWaitMs)
  }

  /** Runs a pending attempt now, because the network is back. */
  #hurry(): void {
    this.#wait = firstWaitMs
    if (!this.#waiting) return
    clearTimeout(this.#timer)
    void this.#start()
  }
}
