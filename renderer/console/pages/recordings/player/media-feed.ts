import { fetchOwn } from '../../../../kit/transport/page-half.ts'
import type { Piece } from './piece.ts'

/** A loaded span of a piece. Times are seconds of the piece's media time. */
interface LoadedSpan {
  from: number
  to: number
  /** Whether the file is still being written. */
  growing: boolean
  /** Bytes of init segment and fragments; undefined: nothing is recorded at that time yet. */
  data: ArrayBuffer | undefined
}

/** Maximum distance of media times from the origin, in milliseconds. A jump beyond it creates a new MediaSource. */
const reachMs = 30 * 86_400_000
/** Duration of an open source, in seconds. */
const farSeconds = (4 * reachMs) / 1_000
/** Seconds of the buffer that are kept before the shown picture, and after it. The player loads less ahead. */
const keptBehind = 20
const keptAhead = 240

/**
 * Loads a span of a piece. @param from start in seconds of media time @throws TypeError without a connection,
 * StorageError, AbortError; Error for a refusal
 */
export async function loadSpan(piece: Piece, from: number, to: number, signal: AbortSignal): Promise<LoadedSpan> {
  const address = `/recordings/segments/${piece.id}/media?from=${from.toFixed(3)}&to=${to.toFixed(3)}`
  const answer = await fetchOwn(address, { signal })
  if (answer.status === standbyStatus) throw new AtLeaderError('the leader plays recordings')
  if (answer.headers.has('recording-problem')) throw new StorageError(answer.status)
  if (!answer.ok) throw new Error(`the recording cannot be read (${answer.status})`)
  const growing = answer.headers.get('recording-growing') === '1'
  if (answer.status === 204) return { from, to: from, growing, data: undefined }
  const number = (name: string): number => Number(answer.headers.get(name))
  const data = await answer.arrayBuffer()
  return { from: number('recording-from'), to: number('recording-to'), growing, data }
}

/**
 * MediaSource of a video element, to which pieces of MP4 and WebM are appended at their wall times. Its time line
 * starts at an origin. A change of codec keeps the buffer; a change in the number of tracks requires a new MediaSource.
 */
export class MediaFeed {
  readonly #video: HTMLVideoElement
  #source: MediaSource | undefined
  #buffer: SourceBuffer | undefined
  #url = ''
  #type = ''
  #tracks = ''
  #origin = 0
  /** Latest append or removal: a SourceBuffer does only one at a time. */
  #turn: Promise<void> = Promise.resolve()

  constructor(video: HTMLVideoElement) {
    this.#video = video
  }

  /** Returns the time of the video element for a moment, in seconds. */
  mediaTime(at: number): number {
    return (at - this.#origin) / 1_000
  }

  /** Returns the moment for a time of the video element. */
  wallTime(mediaTime: number): number {
    return this.#origin + mediaTime * 1_000
  }

  /** Returns whether a piece can be appended to the current buffer. */
  fits(piece: Piece): boolean {
    return (
      this.#buffer !== undefined &&
      this.#tracks === tracksOf(piece) &&
      Math.abs(piece.from - this.#origin - reachMs) < reachMs
    )
  }

  /** Creates a new MediaSource if the piece does not fit into the current one. @throws UnplayableError */
  async prepare(piece: Piece): Promise<void> {
    if (this.fits(piece)) return await this.#inTurn((buffer, source) => this.#open(buffer, source))
    const Source = mediaSourceClass()
    const type = playableType(piece.type)
    if (Source === undefined || type === undefined) throw new UnplayableError(piece.type)
    this.close()
    this.#origin = Math.floor(piece.from / 86_400_000) * 86_400_000 - reachMs
    const source = new Source()
    this.#source = source
    this.#url = URL.createObjectURL(source)
    // Safari opens a managed source only with AirPlay disabled.
    this.#video.disableRemotePlayback = true
    this.#video.src = this.#url
    await new Promise((resolve) => source.addEventListener('sourceopen', resolve, { once: true }))
    if (this.#source !== source) return
    source.duration = farSeconds
    this.#buffer = source.addSourceBuffer(type)
    this.#type = piece.type
    this.#tracks = tracksOf(piece)
  }

  /** Appends a span of a piece. If the buffer is full, media already shown are removed first. */
  async append(piece: Piece, data: ArrayBuffer): Promise<void> {
    await this.#inTurn(async (buffer, source) => {
      const { ended, currentTime } = this.#video
      await this.#open(buffer, source)
      if (piece.type !== this.#type) {
        const type = playableType(piece.type)
        if (type === undefined) throw new UnplayableError(piece.type)
        buffer.changeType(type)
        this.#type = piece.type
      }
      buffer.timestampOffset = this.mediaTime(piece.from)
      try {
        await done(buffer, () => buffer.appendBuffer(data))
      } catch (error) {
        if (!(error instanceof DOMException) || error.name !== 'QuotaExceededError') throw error
        await this.#drop(buffer, 2)
        await done(buffer, () => buffer.appendBuffer(data))
      }
      // Chromium resumes an ended video only after a seek.
      if (ended) this.#video.currentTime = currentTime
    })
  }

  /** Removes media far from the shown picture. */
  async evict(): Promise<void> {
    await this.#inTurn(async (buffer, { readyState }) => {
      // A removal would reopen a finished source.
      if (readyState === 'ended') return
      await this.#drop(buffer, keptBehind)
      const far = this.#video.currentTime + keptAhead
      const { buffered } = buffer
      // Removes media that was loaded before a jump back.
      if (buffered.length > 0 && buffered.end(buffered.length - 1) > far)
        await done(buffer, () => buffer.remove(far, Infinity))
    })
  }

  /**
   * Ends the source, so that the longer track plays to its end: otherwise only media of both tracks count as buffered.
   * A later append reopens the source.
   */
  async finish(): Promise<void> {
    await this.#inTurn(async (_buffer, source) => {
      if (source.readyState === 'open') source.endOfStream()
    })
  }

  /** Returns whether one track ends well before a time up to which the other is loaded. */
  lacksTrack(time: number): boolean {
    const { buffered } = this.#video
    for (let range = buffered.length - 1; range >= 0; range--)
      if (buffered.start(range) < time) return buffered.end(range) < time - seam
    return false
  }

  /** Returns the end of the buffered media at a time, across seams, in seconds; undefined: none. */
  bufferedTo(time: number): number | undefined {
    const { buffered } = this.#video
    let end: number | undefined
    for (let range = 0; range < buffered.length; range++) {
      const [from, to] = [buffered.start(range), buffered.end(range)]
      if (end === undefined ? from <= time + 0.05 && to > time : from - end < seam) end = to
    }
    return end
  }

  /** Returns the end of the buffered range at a time; undefined: nothing is buffered there. */
  rangeEnd(time: number): number | undefined {
    const { buffered } = this.#video
    for (let range = 0; range < buffered.length; range++)
      if (buffered.start(range) <= time + 0.05 && buffered.end(range) > time) return buffered.end(range)
    return undefined
  }

  /** Returns the start of the first range after a time; undefined: none. */
  rangeFrom(time: number): number | undefined {
    const { buffered } = this.#video
    for (let range = 0; range < buffered.length; range++) if (buffered.start(range) > time) return buffered.start(range)
    return undefined
  }

  /** Returns the start of the next range if a time is in a seam; undefined: it is not. */
  beyondSeam(time: number): number | undefined {
    const from = this.rangeFrom(time)
    return from !== undefined && from - time < seam ? from : undefined
  }

  /** Returns the end of the previous range if a time is in a seam; undefined: it is not. */
  beforeSeam(time: number): number | undefined {
    const { buffered } = this.#video
    if (this.bufferedTo(time) !== undefined) return undefined
    for (let range = buffered.length - 1; range >= 0; range--) {
      const to = buffered.end(range)
      if (to <= time + 0.001 && time - to < seam) return to - 0.001
    }
    return undefined
  }

  close(): void {
    if (this.#url !== '') URL.revokeObjectURL(this.#url)
    this.#url = ''
    this.#source = undefined
    this.#buffer = undefined
    this.#turn = Promise.resolve()
  }

  async #drop(buffer: SourceBuffer, behind: number): Promise<void> {
    const end = this.#video.currentTime - behind
    if (buffer.buffered.length === 0 || buffer.buffered.start(0) >= end) return
    await done(buffer, () => buffer.remove(0, end))
  }

  /** Reopens an ended source, whose duration would limit seeking. */
  async #open(buffer: SourceBuffer, source: MediaSource): Promise<void> {
    if (source.readyState === 'ended') await done(buffer, () => buffer.remove(0, 0.001))
    if (source.duration !== farSeconds) source.duration = farSeconds
  }

  async #inTurn(act: (buffer: SourceBuffer, source: MediaSource) => Promise<void>): Promise<void> {
    const source = this.#source
    const turn = this.#turn.then(async () => {
      const buffer = this.#buffer
      // Another MediaSource has replaced this one meanwhile.
      if (buffer === undefined || source === undefined || source !== this.#source) return
      if (source.readyState !== 'closed') await act(buffer, source)
    })
    this.#turn = turn.catch(() => {})
    await turn
  }
}

/** Maximum length of a hole between two pieces that counts as a seam, in seconds. */
export const seam = 0.5

/** HTTP status of a controller that is a replica. */
const standbyStatus = 421

/** The controller is a replica. */
export class AtLeaderError extends Error {
  override readonly name = 'AtLeaderError'
}

/** The recording is only in object storage, which is unavailable. */
export class StorageError extends Error {
  override readonly name = 'StorageError'
  constructor(status: number) {
    super(`the object storage cannot be read (${status})`)
  }
}

/** The browser has no decoder for this type. */
export class UnplayableError extends Error {
  override readonly name = 'UnplayableError'
}

function tracksOf({ hasPicture, hasSound }: Piece): string {
  return `${String(hasPicture)} ${String(hasSound)}`
}

function done(buffer: SourceBuffer, act: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void) => (): void => {
      buffer.removeEventListener('updateend', ended)
      buffer.removeEventListener('error', failed)
      finish()
    }
    const ended = settle(resolve)
    const failed = settle(() => reject(new Error('the recording cannot be decoded')))
    buffer.addEventListener('updateend', ended)
    buffer.addEventListener('error', failed)
    try {
      act()
    } catch (error) {
      settle(() => reject(error))()
    }
  })
}

/** Returns the MediaSource class of this browser; Safari on an iPhone has only the managed one. undefined: none. */
function mediaSourceClass(): typeof MediaSource | undefined {
  const { MediaSource, ManagedMediaSource } = globalThis as {
    MediaSource?: typeof globalThis.MediaSource
    ManagedMediaSource?: typeof globalThis.MediaSource
  }
  return MediaSource ?? ManagedMediaSource
}

/**
 * Returns a content type in this browser's spelling: Safari requires the sample entry's name for Opus in MP4.
 * undefined: the browser cannot play it.
 */
function playableType(type: string): string | undefined {
  return [type, type.replace('opus', 'Opus')].find((one) => mediaSourceClass()?.isTypeSupported(one))
}
