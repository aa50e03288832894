import { AtLeaderError, loadSpan, MediaFeed, seam, StorageError, UnplayableError } from './media-feed.ts'
import { type Beside, PictureTimes, ShownPicture } from './picture-times.ts'
import type { Piece, PieceSource } from './piece.ts'

/** States that end when the next span is loaded. */
const waiting: ReadonlySet<StreamState> = new Set<StreamState>(['loading', 'failed', 'storageFailed'])

/**
 * State of a stream at the shown moment. `gap`: nothing was recorded; `unplayable`: the browser lacks the codec;
 * `atLeader`: this controller is a replica.
 */
export type StreamState =
  | 'empty'
  | 'loading'
  | 'showing'
  | 'gap'
  | 'unplayable'
  | 'atLeader'
  | 'failed'
  | 'storageFailed'

/** Seconds to load ahead of the picture at normal speed. */
const ahead = 12
/** Seconds of one request. The first request loads only one fragment, for a fast first picture. */
const loadSeconds = 8
const firstSeconds = 0.05
/** Interval of requests for a growing file, and after a failure, in milliseconds. */
const growMs = 1_000
const retryMs = 2_000
/** Interval of requests for the next recording at the end of the last one, in milliseconds. */
const nextMs = 3_000

/** Distance from the end of the buffer at which browsers stop playing: maximum, and usual value, in seconds. */
const tail = 0.4
const atEnd = 0.06
/** Time without movement after which a video between these two distances counts as stopped, in milliseconds. */
const stillMs = 250
/** Tolerance at the end of the loaded media, in seconds. A seek loads again if less than this is loaded after it. */
const slack = 0.1

/** Offset of a seek from the start of its picture, which compensates rounding, in milliseconds. */
const insideMs = 2

/** Plays one recorded stream in a video element, by wall time. */
export class StreamPlayer {
  readonly video: HTMLVideoElement
  readonly #pieces: PieceSource
  readonly #feed: MediaFeed
  readonly #changed: () => void
  #state: StreamState = 'empty'
  /** Position up to which media is loaded. */
  #cursor: { piece: Piece; time: number } | undefined
  /** Next piece, if it requires a seek; null: it does not exist yet; undefined: unknown. */
  #following: Piece | null | undefined
  /** Time of the video at the last check, and time of its last movement. */
  #lastTime = 0
  #movedAt = 0
  #stop = new AbortController()
  #filling = false
  #pausedUntil = 0
  readonly #times: PictureTimes
  readonly #picture: ShownPicture
  /** Moment of the latest seek. */
  #wanted = 0

  /** @param changed called after the state or the shown picture changed */
  constructor(video: HTMLVideoElement, pieces: PieceSource, changed: () => void) {
    this.video = video
    this.#pieces = pieces
    this.#times = new PictureTimes(pieces)
    this.#feed = new MediaFeed(video)
    this.#changed = changed
    video.addEventListener('error', () => {
      // `close` empties the video, which fires this event without an error.
      if (video.error === null) return
      this.#stop.abort()
      this.#feed.close()
      this.#become('failed')
    })
    video.addEventListener('timeupdate', () => void this.fill())
    this.#picture = new ShownPicture(video, changed)
  }

  get state(): StreamState {
    return this.#state
  }

  /** Moment of the video element, in milliseconds since the epoch. */
  get at(): number {
    return this.#feed.wallTime(this.video.currentTime)
  }

  /** Whether media for the present moment and the next one is loaded. */
  get ready(): boolean {
    const { readyState, seeking, ended } = this.video
    return readyState >= HTMLMediaElement.HAVE_FUTURE_DATA && !seeking && !ended
  }

  /**
   * Moment at which a stopped stream continues: after a hole, or with the next piece. null: no next piece exists yet;
   * undefined: the stream is playing or loading.
   */
  get goesOnAt(): number | null | undefined {
    const { currentTime } = this.video
    if (this.#state !== 'showing' || this.ready) return undefined
    const end = this.#feed.rangeEnd(currentTime)
    const left = end === undefined ? 0 : end - currentTime
    if (left > tail || (left > atEnd && performance.now() - this.#movedAt < stillMs)) return undefined
    const next = this.#feed.rangeFrom(end ?? currentTime)
    if (next !== undefined && next <= this.#loadedTo() + slack) return Math.ceil(this.#feed.wallTime(next)) + 1
    // One track may be loaded further than the other; then playback continues at the end of the loaded media.
    if (this.#cursor !== undefined && this.#following === undefined)
      return this.#needsMore() ? undefined : Math.ceil(this.#feed.wallTime(this.#loadedTo()))
    return this.#following === undefined ? undefined : (this.#following?.from ?? null)
  }

  /** Returns whether a piece that is loaded has something recorded at a moment. */
  has(at: number): boolean {
    const piece = this.#pieces.known(at)
    return piece !== undefined && piece.from <= at + 50
  }

  /**
   * Returns the earliest known moment from `at` on at which this stream can continue; undefined: none, or it is
   * loading.
   */
  nextAt(at: number): number | undefined {
    const piece = this.#pieces.known(at)
    if (this.#state === 'showing') return this.has(at) ? (this.goesOnAt ?? undefined) : piece?.from
    if (this.#state === 'gap' || piece === undefined) return piece?.from
    return this.#state === 'unplayable' ? this.#pieces.known(piece.to + 1)?.from : undefined
  }

  /** Shows a moment; without a recording, its gap. */
  async seek(at: number): Promise<void> {
    this.#wanted = at
    this.#picture.expect()
    const target = this.#feed.mediaTime(at)
    const known = this.#pieces.known(at)
    const loadedTo = this.#feed.bufferedTo(target)
    this.#stop.abort()
    const stop = new AbortController()
    this.#stop = stop
    this.#filling = false
    this.#pausedUntil = 0
    this.#cursor = undefined
    this.#following = undefined
    if (
      loadedTo !== undefined &&
      loadedTo - target > slack &&
      known !== undefined &&
      this.#feed.fits(known) &&
      known.from <= at
    ) {
      this.video.currentTime = target
      this.#become('showing')
      void this.#goOnAt(this.#feed.wallTime(loadedTo), stop.signal)
      return
    }
    this.#become('loading')
    try {
      const piece = known ?? (await this.#pieces.at(at))
      if (stop.signal.aborted) return
      if (piece === undefined || piece.from > at + 50) return this.#become('gap')
      await this.#feed.prepare(piece)
      if (stop.signal.aborted) return
      this.video.currentTime = this.#feed.mediaTime(Math.max(at, piece.from + 1))
      this.#cursor = { piece, time: Math.max(0, (at - piece.from) / 1_000) }
      await this.#load(firstSeconds, stop.signal)
      if (stop.signal.aborted) return
      // Sound may start slightly later than the picture: playback starts at the first buffered moment.
      this.#overSeam()
    } catch (error) {
      this.#fail(error, stop.signal)
    }
    void this.fill()
  }

  /** Continues loading at the end of the buffer. */
  async #goOnAt(end: number, signal: AbortSignal): Promise<void> {
    const piece = this.#pieces.known(end) ?? (await this.#pieces.at(end).catch(() => undefined))
    if (signal.aborted) return
    if (piece === undefined || !this.#feed.fits(piece) || piece.from - end >= seam * 1_000)
      this.#following = piece ?? null
    else this.#cursor = { piece, time: Math.max(0, (end - piece.from) / 1_000) }
    void this.fill()
  }

  /**
   * Loads ahead of the shown picture, and moves the video across a seam, because WebKit does not report that it waits
   * there.
   */
  async fill(): Promise<void> {
    const { signal } = this.#stop
    this.#look()
    if (this.#filling || signal.aborted || performance.now() < this.#pausedUntil) return
    this.#filling = true
    try {
      while (!signal.aborted && this.#cursor !== undefined && this.#needsMore()) {
        if (!(await this.#load(loadSeconds * Math.max(1, this.video.playbackRate / 2), signal))) break
      }
      if (!signal.aborted) await this.#feed.evict()
      if (!signal.aborted && this.#state === 'loading') this.#passEmpty()
    } catch (error) {
      this.#fail(error, signal)
    } finally {
      if (signal === this.#stop.signal) this.#filling = false
    }
  }

  /** Resolves to the picture before or after a moment; undefined: none, or no connection. */
  async beside(at: number, direction: 1 | -1): Promise<Beside | undefined> {
    const found = await this.#times.beside(at, direction).catch(() => undefined)
    if (found === undefined) return undefined
    const target = this.#feed.mediaTime(found.at + insideMs)
    const reached = direction === 1 ? target : (this.#feed.beforeSeam(target) ?? target)
    return { ...found, at: this.#feed.wallTime(reached) }
  }

  /** Moment of the shown picture, as reported by the browser. */
  get shownAt(): number {
    return this.#feed.wallTime(this.#picture.time)
  }

  /** Resolves when the picture of a seek is shown, or after a timeout. @param at moment of the seek */
  async settled(at: number): Promise<void> {
    await this.#picture.settled(() => Math.abs(this.shownAt - at) <= insideMs + 1)
  }

  close(): void {
    this.#stop.abort()
    this.#feed.close()
    this.video.removeAttribute('src')
    this.video.load()
  }

  /** Moves the video across a seam, and records when it last moved. */
  #look(): void {
    if (!this.ready && this.#state === 'showing') this.#overSeam()
    const { currentTime } = this.video
    if (!this.ready && currentTime === this.#lastTime) return
    this.#lastTime = currentTime
    this.#movedAt = performance.now()
  }

  /** Continues with the next piece if nothing of this one could be loaded. */
  #passEmpty(): void {
    if (this.#following === null) this.#become('gap')
    else if (this.#following !== undefined) void this.seek(this.#following.from)
  }

  /** Time of the video element up to which media is loaded. */
  #loadedTo(): number {
    const cursor = this.#cursor
    return cursor === undefined ? Infinity : this.#feed.mediaTime(cursor.piece.from) + cursor.time
  }

  #needsMore(): boolean {
    const { currentTime, playbackRate } = this.video
    if (this.#cursor === undefined) return false
    return this.#loadedTo() - currentTime < ahead * Math.max(1, playbackRate / 1.5)
  }

  /** Loads the next seconds at the cursor. @returns false if they are not recorded yet */
  async #load(seconds: number, signal: AbortSignal): Promise<boolean> {
    const cursor = this.#cursor
    if (cursor === undefined) return false
    const { piece, time } = cursor
    const span = await loadSpan(piece, time, time + seconds, signal)
    if (signal.aborted) return false
    if (span.data === undefined) {
      if (span.growing) {
        this.#pausedUntil = performance.now() + growMs
        return false
      }
      return await this.#nextPiece(piece, signal)
    }
    await this.#feed.append(piece, span.data)
    if (signal.aborted) return false
    // Slightly later, because rounding could return the same fragment.
    cursor.time = span.to + 0.002
    this.#following = undefined
    if (waiting.has(this.#state)) this.#become('showing')
    return true
  }

  /** Continues with the next piece, if it follows without a gap and fits into the same buffer. */
  async #nextPiece(piece: Piece, signal: AbortSignal): Promise<boolean> {
    const loaded = piece.from + (this.#cursor?.time ?? 0) * 1_000
    // Sound may end later than the picture, or than the next piece if that is shorter.
    const end = piece.open ? loaded : piece.to
    const isShort = !piece.open && this.#feed.lacksTrack(this.#loadedTo())
    let next = await this.#pieces.at(end + 1)
    // Writing of the piece has ended meanwhile.
    if (next?.id === piece.id && !next.open) next = await this.#pieces.at(Math.max(end, next.to) + 1)
    if (signal.aborted) return false
    if (next === undefined || next.id === piece.id) {
      // A recording in progress will add another piece.
      this.#following = null
      this.#pausedUntil = performance.now() + nextMs
      if (isShort) await this.#feed.finish()
      return false
    }
    if (next.from - end > seam * 1_000 || !this.#feed.fits(next) || isShort) {
      this.#cursor = undefined
      this.#following = next
      if (isShort) await this.#feed.finish()
      return false
    }
    this.#following = undefined
    this.#cursor = { piece: next, time: 0 }
    return true
  }

  /** Skips the few milliseconds between two pieces. */
  #overSeam(): void {
    const { currentTime } = this.video
    if (this.#feed.bufferedTo(currentTime) !== undefined) return
    const beyond = this.#feed.beyondSeam(currentTime)
    if (beyond !== undefined) this.video.currentTime = beyond + 0.001
  }

  #become(state: StreamState): void {
    if (this.#state === state) return
    this.#state = state
    if (state === 'gap') this.video.pause()
    this.#changed()
  }

  #fail(error: unknown, signal: AbortSignal): void {
    if (signal.aborted) return
    if (error instanceof UnplayableError) this.#become('unplayable')
    else if (error instanceof AtLeaderError) this.#become('atLeader')
    else {
      // The connection may return.
      this.#pausedUntil = performance.now() + retryMs
      const isStorage = error instanceof StorageError
      // Loaded media are played to their end first.
      const isOver = isStorage && this.#state === 'showing' && !this.ready
      if (isOver || waiting.has(this.#state)) this.#become(isStorage ? 'storageFailed' : 'failed')
      if (this.#cursor === undefined) setTimeout(() => !signal.aborted && void this.seek(this.#wanted), retryMs)
    }
  }
}
