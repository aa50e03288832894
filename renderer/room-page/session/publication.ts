import { MediaRefusal } from '../../kit/media/media-refusal.ts'
import type { OfferExchange } from '../../kit/media/sdp-exchange.ts'
import { type OutgoingTracks, WhipSession } from '../../kit/media/whip-session.ts'

/** Tracks to send; null: nothing. */
export type Tracks = Pick<OutgoingTracks, 'video' | 'audio'>

const waitsMs = [500, 1_000, 2_000, 5_000] as const
export const nothing: Tracks = { video: null, audio: null }

/** Publishes tracks to the node (WHIP) for as long as needed; restarts when the connection breaks. */
export class Publication {
  readonly #way: () => OfferExchange | undefined
  readonly #picture: Pick<OutgoingTracks, 'maxVideoBitrate' | 'layered'>
  readonly #refusedKind: (kind: 'video' | 'audio') => void
  readonly #closed = new AbortController()
  #wanted: Tracks = nothing
  #session: WhipSession | undefined
  #applying: Promise<void> | undefined
  #stale = false
  #tries = 0
  #retry: ReturnType<typeof setTimeout> | undefined

  /**
   * @param way returns the exchange with the node; undefined while there is none
   * @param refusedKind the room accepts no more pictures or sound: the session continues without them
   */
  constructor(
    way: () => OfferExchange | undefined,
    picture: Pick<OutgoingTracks, 'maxVideoBitrate' | 'layered'>,
    refusedKind: (kind: 'video' | 'audio') => void,
  ) {
    this.#way = way
    this.#picture = picture
    this.#refusedKind = refusedKind
    const hurry = (): void => {
      this.#tries = 0
      if (this.#session === undefined) this.#apply()
    }
    window.addEventListener('online', hurry, { signal: this.#closed.signal })
  }

  get connection(): RTCPeerConnection | undefined {
    return this.#session?.connection
  }

  /** Ticket with which another node can continue the session; empty: none. */
  get ticket(): string {
    return this.#session?.ticket ?? ''
  }

  /** Moves to another node, which continues the session, or starts a new one. */
  async move(): Promise<void> {
    const session = this.#session
    const way = this.#way()
    const goesOn = session !== undefined && way !== undefined && (await session.moveTo(way, this.#closed.signal))
    if (!goesOn && this.#session === session) this.restart()
  }

  /** Sets the tracks to send; two nulls end the session. */
  set(tracks: Tracks): void {
    this.#wanted = tracks
    this.#apply()
  }

  /** Starts a new session after a new join: the previous one has ended. */
  restart(): void {
    this.#session?.close()
    this.#session = undefined
    this.#tries = 0
    this.#apply()
  }

  /** Ends the publication. Idempotent. */
  close(): void {
    this.#closed.abort()
    clearTimeout(this.#retry)
    this.#session?.close()
    this.#session = undefined
  }

  #apply(): void {
    clearTimeout(this.#retry)
    this.#stale = true
    this.#applying ??= this.#catchUp().finally(() => {
      this.#applying = undefined
    })
  }

  async #catchUp(): Promise<void> {
    while (this.#stale && !this.#closed.signal.aborted) {
      this.#stale = false
      await this.#step(this.#wanted)
    }
  }

  async #step({ video, audio }: Tracks): Promise<void> {
    const session = this.#session
    if (video === null && audio === null) {
      session?.close()
      this.#session = undefined
      return
    }
    if (
      session !== undefined &&
      (video === null || session.carries('video')) &&
      (audio === null || session.carries('audio'))
    ) {
      await session.replace('video', video)
      await session.replace('audio', audio)
      return
    }
    const way = this.#way()
    if (way === undefined) return
    // The old session is closed only after the new one has replaced it at the node, to keep the gap short.
    this.#session = undefined
    try {
      const made: WhipSession = await WhipSession.start(
        way,
        { video, audio, ...this.#picture },
        this.#closed.signal,
        (byServer) => this.#broken(made, byServer),
      )
      this.#session = made
      this.#tries = 0
      session?.close()
    } catch (error) {
      session?.close()
      if (!this.#closed.signal.aborted) this.#failed(error)
    }
  }

  #failed(error: unknown): void {
    const code = error instanceof MediaRefusal ? error.code : 0
    if (code === 800 || code === 801) {
      const kind = code === 800 ? 'video' : 'audio'
      this.#wanted = { ...this.#wanted, [kind]: null }
      this.#stale = true
      this.#refusedKind(kind)
      return
    }
    this.#later()
  }

  #broken(session: WhipSession, byServer: boolean): void {
    if (this.#session !== session) return
    session.close(byServer)
    this.#session = undefined
    this.#later()
  }

  #later(): void {
    const wait = waitsMs[Math.min(this.#tries, waitsMs.length - 1)] ?? 0
    this.#tries += 1
    clearTimeout(this.#retry)
    this.#retry = setTimeout(() => this.#apply(), wait)
  }
}
