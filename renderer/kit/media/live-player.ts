import { MediaRefusal } from './media-refusal.ts'
import type { OfferExchange } from './sdp-exchange.ts'
import { type MediaKind, WhepSession } from './whep-session.ts'

/** `waiting`: the next attempt is to come; `refused`: the server said no for good. */
export type PlayerState = 'connecting' | 'connected' | 'waiting' | 'refused' | 'closed'

/** Events of a player. */
export interface PlayerListener {
  /** The tracks to show from now on; null for a kind that is not received. They replace the earlier ones. */
  tracks(video: MediaStreamTrack | null, audio: MediaStreamTrack | null): void
  /** `problem`: why it waits or was refused. */
  state(state: PlayerState, problem: unknown): void
}

const firstWaitMs = 500
const maxWaitMs = 10_000
/** From the answer to a connection. */
const connectMs = 10_000
/** Refusals that another attempt does not change. */
const final: ReadonlySet<number> = new Set([400, 401, 403, 405, 406, 409, 415])

/** Watches a stream for as long as it is wanted, beginning again when the connection breaks. */
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
    // The maker has the player before it tells anything.
    queueMicrotask(() => void this.#start())
  }

  /** The connection of now, for its statistics. */
  get connection(): RTCPeerConnection | undefined {
    return this.#session?.connection
  }

  /** With which another server can go on with it; empty where none can. */
  get ticket(): string {
    return this.#session?.ticket ?? ''
  }

  /** It is had from another server from now on. Resolves to whether what is there goes on: where it does not, it is as before, for as long as it lasts. Never rejects. */
  async moveTo(way: OfferExchange): Promise<boolean> {
    this.#way = way
    const session = this.#session
    // The next attempt goes there.
    if (session === undefined) return true
    return (await session.moveTo(way, this.#closed.signal)) || this.#session !== session
  }

  /**
   * Ends it. Idempotent.
   * @param known the server ended the stream: it need not be told
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
    this.#listener.state('connecting', undefined)
    try {
      const session = await WhepSession.start(this.#way, this.#kinds, this.#closed.signal, (byServer) => {
        if (attempt === this.#attempt) this.#again(undefined, byServer)
      })
      this.#session = session
      this.#listener.tracks(session.video, session.audio)
      this.#timer = setTimeout(() => this.#again(undefined), connectMs)
      const connected = (): void => {
        if (session.connection.connectionState !== 'connected' || attempt !== this.#attempt) return
        clearTimeout(this.#timer)
        this.#wait = firstWaitMs
        this.#listener.state('connected', undefined)
      }
      session.connection.addEventListener('connectionstatechange', connected)
      connected()
    } catch (error) {
      if (this.#closed.signal.aborted) return
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

  /** There is a network again: what was to come later comes now. */
  #hurry(): void {
    this.#wait = firstWaitMs
    if (!this.#waiting) return
    clearTimeout(this.#timer)
    void this.#start()
  }
}
