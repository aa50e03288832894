import { fetchOwn } from '../../../../kit/transport/page-half.ts'
import { mediaSourceClass, playableType } from './media-source.ts'
import type { Piece } from './piece.ts'

/** A loaded part of a piece. Times are seconds of its media time. */
export interface LoadedSpan {
  from: number
  to: number
  /** The file still grows: more comes later. */
  growing: boolean
  /** Bytes of init and fragments; undefined: there is nothing at that time, or not yet. */
  data: ArrayBuffer | undefined
}

/** Maximum distance of the media times from the origin, in milliseconds: a jump further away makes a new MediaSource. */
const reachMs = 30 * 86_400_000
/** Seconds kept behind the shown picture. */
const keptBehind = 20

/** Seconds kept before it: more than is ever loaded ahead. */
const keptAhead = 240

/** Loads a span of a piece. @param from seconds of media time @throws TypeError without a connection, StorageError, Error for a refusal, AbortError */
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
 * One MediaSource of a video element: takes pieces of MP4 and WebM at their wall times. Its time line begins at an origin; a change of codec goes on in the same buffer, one of
 * the number of tracks needs a new MediaSource.
 */
export class MediaFeed {
  readonly #video: HTMLVideoElement
  #source: MediaSource | undefined
  #buffer: SourceBuffer | undefined
  #url = ''
  #type = ''
  #tracks = ''
  #origin = 0
  /** Appends and removals take turns. */
  #turn: Promise<void> = Promise.resolve()

  constructor(video: HTMLVideoElement) {
    this.#video = video
  }

  /** Time of the video element for a moment, in seconds. */
  mediaTime(at: number): number {
    return (at - this.#origin) / 1_000
  }

  /** Moment of a time of the video element. */
  wallTime(mediaTime: number): number {
    return this.#origin + mediaTime * 1_000
  }

  /** Tells whether a piece can go on in the present buffer. */
  fits(piece: Piece): boolean {
    return (
      this.#buffer !== undefined &&
      this.#tracks === tracksOf(piece) &&
      Math.abs(piece.from - this.#origin - reachMs) < reachMs
    )
  }

  /** Makes a new MediaSource where the present one does not fit. @throws Error the browser does not play this type */
  async prepare(piece: Piece): Promise<void> {
    if (this.fits(piece)) return
    const Source = mediaSourceClass()
    const type = playableType(piece.type)
    if (Source === undefined || type === undefined) throw new UnplayableError(piece.type)
    this.close()
    this.#origin = Math.floor(piece.from / 86_400_000) * 86_400_000 - reachMs
    const source = new Source()
    this.#source = source
    this.#url = URL.createObjectURL(source)
    // A managed source opens only without AirPlay.
    this.#video.disableRemotePlayback = true
    this.#video.src = this.#url
    await new Promise((resolve) => source.addEventListener('sourceopen', resolve, { once: true }))
    if (this.#source !== source) return
    source.duration = (4 * reachMs) / 1_000
    this.#buffer = source.addSourceBuffer(type)
    this.#type = piece.type
    this.#tracks = tracksOf(piece)
  }

  /** Appends a span of a piece. Where the buffer is full, the past is dropped first. */
  async append(piece: Piece, data: ArrayBuffer): Promise<void> {
    await this.#inTurn(async (buffer) => {
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
    })
  }

  /** Drops what was shown a while ago. */
  async evict(): Promise<void> {
    await this.#inTurn(async (buffer) => {
      await this.#drop(buffer, keptBehind)
      const far = this.#video.currentTime + keptAhead
      const { buffered } = buffer
      // Left over from before a jump back.
      if (buffered.length > 0 && buffered.end(buffered.length - 1) > far)
        await done(buffer, () => buffer.remove(far, Infinity))
    })
  }

  /** End of what is buffered at a time without a hole, in seconds; undefined: nothing is. */
  bufferedTo(time: number): number | undefined {
    const { buffered } = this.#video
    let end: number | undefined
    for (let range = 0; range < buffered.length; range++) {
      const [from, to] = [buffered.start(range), buffered.end(range)]
      if (end === undefined ? from <= time + 0.05 && to > time : from - end < seam) end = to
    }
    return end
  }

  /** End of the range at a time; undefined: nothing is buffered there. */
  rangeEnd(time: number): number | undefined {
    const { buffered } = this.#video
    for (let range = 0; range < buffered.length; range++)
      if (buffered.start(range) <= time + 0.05 && buffered.end(range) > time) return buffered.end(range)
    return undefined
  }

  /** Start of the first range that begins after a time; undefined: there is none. */
  rangeFrom(time: number): number | undefined {
    const { buffered } = this.#video
    for (let range = 0; range < buffered.length; range++) if (buffered.start(range) > time) return buffered.start(range)
    return undefined
  }

  /** Start of the next range behind a hole of a few milliseconds at a time; undefined: there is no such hole. */
  beyondSeam(time: number): number | undefined {
    const from = this.rangeFrom(time)
    return from !== undefined && from - time < seam ? from : undefined
  }

  /** Moment at the end of the range before a hole of a few milliseconds at a time; undefined: there is no such hole. */
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

  async #inTurn(act: (buffer: SourceBuffer) => Promise<void>): Promise<void> {
    const source = this.#source
    const turn = this.#turn.then(async () => {
      const buffer = this.#buffer
      // Another MediaSource took its place meanwhile.
      if (buffer === undefined || source !== this.#source || source?.readyState !== 'open') return
      await act(buffer)
    })
    this.#turn = turn.catch(() => {})
    await turn
  }
}

/** Pieces that are not further apart follow one another, in seconds. */
export const seam = 0.5

/** Status of a controller that is a replica. */
const standbyStatus = 421

/** The controller is a replica. */
export class AtLeaderError extends Error {
  override readonly name = 'AtLeaderError'
}

/** The recording is in object storage alone, which cannot give it now. */
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
