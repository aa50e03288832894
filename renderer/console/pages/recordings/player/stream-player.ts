import { AtLeaderError, MediaFeed, loadSpan, seam, StorageError, UnplayableError } from './media-feed.ts'
import { type Beside, PictureTimes } from './picture-times.ts'
import type { Piece, PieceSource } from './piece.ts'

/** States that end with the next loaded span. */
const waiting: ReadonlySet<StreamState> = new Set<StreamState>(['loading', 'failed', 'storageFailed'])

/** States of a stream at the moment that is shown. gap: nothing was recorded. unplayable: the browser lacks the codec. atLeader: this controller is a replica. */
export type StreamState =
  | 'empty'
  | 'loading'
  | 'showing'
  | 'gap'
  | 'unplayable'
  | 'atLeader'
  | 'failed'
  | 'storageFailed'

/** Seconds that are loaded ahead of the picture, at normal speed. */
const ahead = 12
/** Seconds of one request; the first one asks for one fragment only, so that a picture comes soon. */
const loadSeconds = 8
const firstSeconds = 0.05
/** Waiting time before a growing file is asked again, in milliseconds. */
const growMs = 1_000
const retryMs = 2_000
/** Waiting time at the end of the recordings before the next one is looked for, in milliseconds. */
const nextMs = 3_000

/** A browser stands still this long before the end of what is buffered at most, or this long before it as a rule, in seconds. */
const tail = 0.4
const atEnd = 0.06
/** In between, it is at the end when it has not moved for this time, in milliseconds. */
const stillMs = 250
/** What was loaded ends this close to where it was to end, in seconds. */
const slack = 0.1

/** Distance of a seek from the beginning of its picture, so that the picture is found whatever the rounding, in milliseconds. */
const insideMs = 2
/** Longest wait for the picture of a step, and for the report that it is shown, in milliseconds. */
const settleMs = 5_000
const reportMs = 1_000

/** Plays one recorded stream in a video element, by wall time. */
export class StreamPlayer {
  readonly video: HTMLVideoElement
  readonly #pieces: PieceSource
  readonly #feed: MediaFeed
  readonly #changed: () => void
  #state: StreamState = 'empty'
  /** Place up to which is loaded. */
  #cursor: { piece: Piece; time: number } | undefined
  /** What comes behind the last loaded piece, where it cannot go on in this buffer; null: nothing does, for now. */
  #following: Piece | null | undefined
  /** Place of the video at the last look, and the time since which it is there. */
  #lastTime = 0
  #movedAt = 0
  #stop = new AbortController()
  #filling = false
  #pausedUntil = 0
  readonly #times: PictureTimes
  #shownAt = 0
  /** The picture of the latest seek is not shown yet. */
  #isPictureDue = false
  /** Moment that was asked for last. */
  #wanted = 0

  /** @param changed called after the state or the shown picture changed */
  constructor(video: HTMLVideoElement, pieces: PieceSource, changed: () => void) {
    this.video = video
    this.#pieces = pieces
    this.#times = new PictureTimes(pieces)
    this.#feed = new MediaFeed(video)
    this.#changed = changed
    video.addEventListener('error', () => {
      // Emptied by `close`, it has none.
      if (video.error === null) return
      this.#stop.abort()
      this.#feed.close()
      this.#become('failed')
    })
    video.addEventListener('timeupdate', () => void this.fill())
    this.#follow()
  }

  get state(): StreamState {
    return this.#state
  }

  /** Moment of the video element, in milliseconds since the epoch. */
  get at(): number {
    return this.#feed.wallTime(this.video.currentTime)
  }

  /** Whether pictures or sound for the present moment are there, and some more. */
  get ready(): boolean {
    return this.video.readyState >= HTMLMediaElement.HAVE_FUTURE_DATA && !this.video.seeking
  }

  /**
   * Moment at which this stream goes on, when it stands still for good: at a hole, and where another buffer is needed. null: nothing follows, for now.
   * undefined: it plays, or what it waits for is being loaded.
   */
  get goesOnAt(): number | null | undefined {
    const { currentTime } = this.video
    if (this.#state !== 'showing' || this.ready) return undefined
    const end = this.#feed.rangeEnd(currentTime)
    const left = end === undefined ? 0 : end - currentTime
    if (left > tail || (left > atEnd && performance.now() - this.#movedAt < stillMs)) return undefined
    const next = this.#feed.rangeFrom(end ?? currentTime)
    if (next !== undefined && next <= this.#loadedTo() + slack) return Math.ceil(this.#feed.wallTime(next)) + 1
    if (this.#cursor !== undefined && this.#following === undefined) return undefined
    return this.#following === undefined ? undefined : (this.#following?.from ?? null)
  }

  /** Tells whether something was recorded at a moment, as far as it is known. */
  has(at: number): boolean {
    const piece = this.#pieces.known(at)
    return piece !== undefined && piece.from <= at + 50
  }

  /** Moment at or after another at which this stream can go on, as far as it is known; undefined: there is none, or it is being loaded again. */
  nextAt(at: number): number | undefined {
    const piece = this.#pieces.known(at)
    if (this.#state === 'showing') return this.has(at) ? (this.goesOnAt ?? undefined) : piece?.from
    if (this.#state === 'gap' || piece === undefined) return piece?.from
    return this.#state === 'unplayable' ? this.#pieces.known(piece.to + 1)?.from : undefined
  }

  /** Shows a moment; a gap is shown as such. */
  async seek(at: number): Promise<void> {
    this.#wanted = at
    this.#isPictureDue = 'requestVideoFrameCallback' in this.video
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
    if (loadedTo !== undefined && known !== undefined && this.#feed.fits(known) && known.from <= at) {
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
      // Sound may begin a little later than the picture: the first buffered moment counts.
      this.#overSeam()
    } catch (error) {
      this.#fail(error, stop.signal)
    }
    void this.fill()
  }

  /** Goes on loading where the buffer ends. */
  async #goOnAt(end: number, signal: AbortSignal): Promise<void> {
    const piece = this.#pieces.known(end) ?? (await this.#pieces.at(end).catch(() => undefined))
    if (signal.aborted) return
    if (piece === undefined || !this.#feed.fits(piece) || piece.from - end >= seam * 1_000)
      this.#following = piece ?? null
    else this.#cursor = { piece, time: Math.max(0, (end - piece.from) / 1_000) }
    void this.fill()
  }

  /** Loads ahead of the shown picture, and takes it over a seam: not every browser reports that it waits there. */
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

  /** Finds the picture before or after the one at a moment, while it is paused; undefined: there is none, or no connection. */
  async beside(at: number, direction: 1 | -1): Promise<Beside | undefined> {
    const found = await this.#times.beside(at, direction).catch(() => undefined)
    if (found === undefined) return undefined
    const target = this.#feed.mediaTime(found.at + insideMs)
    const reached = direction === 1 ? target : (this.#feed.beforeSeam(target) ?? target)
    return { ...found, at: this.#feed.wallTime(reached) }
  }

  /** Moment of the picture that is shown, as far as the browser reports it. */
  get shownAt(): number {
    return this.#feed.wallTime(this.#isPictureDue || this.#shownAt === 0 ? this.video.currentTime : this.#shownAt)
  }

  /** Resolves when the picture of a seek is shown. @param at moment of the seek */
  async settled(at: number): Promise<void> {
    // Right before the end of what is loaded, Chromium shows the picture and goes on seeking.
    const isShown = (): boolean => !this.#isPictureDue && Math.abs(this.shownAt - at) <= insideMs + 1
    const deadline = performance.now() + settleMs
    while (this.video.seeking && !isShown() && performance.now() < deadline) await nextTurn()
    // On a busy machine the report comes many renderings later.
    const reported = performance.now() + reportMs
    while (this.#isPictureDue && performance.now() < reported) await nextTurn()
    // A browser without reports shows the picture with one of the next renderings.
    await nextTurn()
    await nextTurn()
  }

  close(): void {
    this.#stop.abort()
    this.#feed.close()
    this.video.removeAttribute('src')
    this.video.load()
  }

  /** Takes the video over a seam, and notes since when it stands still. */
  #look(): void {
    if (!this.ready && this.#state === 'showing') this.#overSeam()
    const { currentTime } = this.video
    if (!this.ready && currentTime === this.#lastTime) return
    this.#lastTime = currentTime
    this.#movedAt = performance.now()
  }

  /** Nothing of the piece could be loaded: goes on with the one behind it. */
  #passEmpty(): void {
    if (this.#following === null) this.#become('gap')
    else if (this.#following !== undefined) void this.seek(this.#following.from)
  }

  /** Time of the video element up to which is loaded. */
  #loadedTo(): number {
    const cursor = this.#cursor
    return cursor === undefined ? Infinity : this.#feed.mediaTime(cursor.piece.from) + cursor.time
  }

  #needsMore(): boolean {
    const { currentTime, playbackRate } = this.video
    if (this.#cursor === undefined) return false
    return this.#loadedTo() - currentTime < ahead * Math.max(1, playbackRate / 1.5)
  }

  /** Loads the next seconds at the cursor. @returns false when there is nothing more for now */
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
    // A little less, so that the fragment behind is found whatever the rounding.
    cursor.time = span.to + 0.002
    this.#following = undefined
    if (waiting.has(this.#state)) this.#become('showing')
    return true
  }

  /** Goes on with the piece behind this one, if it follows without a gap and fits. */
  async #nextPiece(piece: Piece, signal: AbortSignal): Promise<boolean> {
    const loaded = piece.from + (this.#cursor?.time ?? 0) * 1_000
    // What is loaded may be more: sound that ends later than the picture, beyond pieces that are shorter.
    const end = piece.open ? loaded : piece.to
    let next = await this.#pieces.at(end + 1)
    // It was still written, and is complete by now.
    if (next?.id === piece.id && !next.open) next = await this.#pieces.at(Math.max(end, next.to) + 1)
    if (signal.aborted) return false
    if (next === undefined || next.id === piece.id) {
      // The end of all; a recording that goes on adds another piece.
      this.#following = null
      this.#pausedUntil = performance.now() + nextMs
      return false
    }
    if (next.from - end > seam * 1_000 || !this.#feed.fits(next)) {
      this.#cursor = undefined
      this.#following = next
      return false
    }
    this.#following = undefined
    this.#cursor = { piece: next, time: 0 }
    return true
  }

  /** Between two pieces there may be a few milliseconds: they are skipped. */
  #overSeam(): void {
    const { currentTime } = this.video
    if (this.#feed.bufferedTo(currentTime) !== undefined) return
    const beyond = this.#feed.beyondSeam(currentTime)
    if (beyond !== undefined) this.video.currentTime = beyond + 0.001
  }

  #follow(): void {
    if (!('requestVideoFrameCallback' in this.video)) return
    const shown = (_now: number, { mediaTime }: { mediaTime: number }): void => {
      this.#shownAt = mediaTime
      this.#isPictureDue = false
      this.#changed()
      this.video.requestVideoFrameCallback(shown)
    }
    this.video.requestVideoFrameCallback(shown)
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
      // The next picture may be asked for again: a connection comes back.
      this.#pausedUntil = performance.now() + retryMs
      const isStorage = error instanceof StorageError
      // Loaded media is still shown.
      const isOver = isStorage && this.#state === 'showing' && !this.ready
      if (isOver || waiting.has(this.#state)) this.#become(isStorage ? 'storageFailed' : 'failed')
      if (this.#cursor === undefined) setTimeout(() => !signal.aborted && void this.seek(this.#wanted), retryMs)
    }
  }
}

/** Resolves with the next rendering; a page that is not shown renders nothing. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, 100)
    requestAnimationFrame(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
