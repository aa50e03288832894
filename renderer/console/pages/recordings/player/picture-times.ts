import { z } from 'zod'
import { fetchOwn } from '../../../../kit/transport/page-half.ts'
import { seam } from './media-feed.ts'
import type { Piece, PieceSource } from './piece.ts'

/** The picture before or after a moment. */
export interface Beside {
  /** Moment of the picture, in milliseconds since the epoch. */
  at: number
  /** Nothing was recorded between the moment and the picture. */
  overGap: boolean
}

/** Times that differ by less are equal, in seconds. */
const sameTime = 0.001
/** Maximum number of pieces without a picture that are skipped in a search. */
const maxPassed = 10

const answerSchema = z.object({ times: z.array(z.number()) })

/** Exact moments of the pictures of one stream, requested for a few seconds at a time. */
export class PictureTimes {
  readonly #pieces: PieceSource
  /** Latest answer: times in seconds of the piece's media time. */
  #loaded: { id: number; times: readonly number[] } = { id: 0, times: [] }

  constructor(pieces: PieceSource) {
    this.#pieces = pieces
  }

  /**
   * Returns the picture before or after a moment.
   * @param at milliseconds since the epoch
   * @returns undefined at the end of the recordings
   * @throws errors of the connection
   */
  async beside(at: number, direction: 1 | -1): Promise<Beside | undefined> {
    return direction === 1 ? await this.#after(at) : await this.#before(at)
  }

  async #after(at: number): Promise<Beside | undefined> {
    let piece = await this.#pieces.at(at)
    let end = at
    let overGap = false
    for (let passed = 0; piece !== undefined && passed < maxPassed; passed++) {
      overGap ||= piece.from - end > seam * 1_000
      const seconds = (at - piece.from) / 1_000
      const time = await this.#find(piece, seconds, (times) => times.find((one) => one > seconds + sameTime))
      const found = time === undefined ? undefined : piece.from + time * 1_000
      // The next piece may start before the end of this one, and then replaces its rest.
      end = found ?? Math.max(at, piece.to)
      const next = await this.#pieces.at(found ?? end + 1)
      if (found !== undefined && (next === undefined || next.id === piece.id)) return { at: found, overGap }
      if (next?.id === piece.id) return undefined
      piece = next
    }
    return undefined
  }

  async #before(at: number): Promise<Beside | undefined> {
    let piece = await this.#pieces.before(at + 1)
    let limit = at
    let overGap = false
    for (let passed = 0; piece !== undefined && passed < maxPassed; passed++) {
      overGap ||= !piece.open && limit - piece.to > seam * 1_000
      const seconds = (limit - piece.from) / 1_000
      // In the piece of the moment: the picture before the shown one. In an earlier piece: its last picture.
      const isOwn = passed === 0 && (piece.open || piece.to > at)
      const time = await this.#find(piece, seconds, (times) => {
        const last = times.findLastIndex((one) => (isOwn ? one <= seconds + sameTime : one < seconds - sameTime))
        return times[isOwn ? last - 1 : last]
      })
      if (time !== undefined) return { at: piece.from + time * 1_000, overGap }
      limit = piece.from
      piece = await this.#pieces.before(limit)
    }
    return undefined
  }

  /** Searches the latest answer, then a new one. @param seconds media time of the piece */
  async #find(
    piece: Piece,
    seconds: number,
    find: (times: readonly number[]) => number | undefined,
  ): Promise<number | undefined> {
    if (!piece.hasPicture) return undefined
    const { id, times } = this.#loaded
    const covers = id === piece.id && (times[0] ?? Infinity) <= seconds && (times.at(-1) ?? 0) >= seconds
    const known = covers ? find(times) : undefined
    if (known !== undefined) return known
    const answer = await fetchOwn(`/recordings/segments/${piece.id}/pictures?at=${Math.max(0, seconds).toFixed(3)}`)
    if (!answer.ok) throw new Error(`the times of the pictures cannot be read (${answer.status})`)
    this.#loaded = { id: piece.id, times: answerSchema.parse(await answer.json()).times }
    return find(this.#loaded.times)
  }
}

/** Timeout for the picture of a step, and for the browser's report of it, in milliseconds. */
const settleMs = 5_000
const reportMs = 1_000

/** The picture that a video element shows, as reported by the browser. */
export class ShownPicture {
  readonly #video: HTMLVideoElement
  readonly #changed: () => void
  #time = 0
  /** Whether the picture of the latest seek is not shown yet. */
  #isDue = false

  /** @param changed called with each shown picture */
  constructor(video: HTMLVideoElement, changed: () => void) {
    this.#video = video
    this.#changed = changed
    this.#follow()
  }

  /** Time of the picture, in seconds of the element. */
  get time(): number {
    return this.#isDue || this.#time === 0 ? this.#video.currentTime : this.#time
  }

  /** Call at the start of a seek. */
  expect(): void {
    this.#isDue = 'requestVideoFrameCallback' in this.#video
  }

  /**
   * Resolves when the picture of a seek is shown, or after a timeout. @param isReached returns whether the shown
   * picture is that of the seek
   */
  async settled(isReached: () => boolean): Promise<void> {
    // Just before the end of the buffer, Chromium shows the picture but keeps `seeking` set.
    const deadline = performance.now() + settleMs
    while (this.#video.seeking && (this.#isDue || !isReached()) && performance.now() < deadline) await nextRendering()
    // On a busy machine, the report may arrive many frames later.
    const reported = performance.now() + reportMs
    while (this.#isDue && performance.now() < reported) await nextRendering()
    // Browsers without reports show the picture within two frames.
    await nextRendering()
    await nextRendering()
  }

  #follow(): void {
    if (!('requestVideoFrameCallback' in this.#video)) return
    const shown = (_now: number, { mediaTime }: { mediaTime: number }): void => {
      this.#time = mediaTime
      this.#isDue = false
      this.#changed()
      this.#video.requestVideoFrameCallback(shown)
    }
    this.#video.requestVideoFrameCallback(shown)
  }
}

/** Resolves at the next frame, or after 100 ms, because a hidden page renders no frames. */
function nextRendering(): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, 100)
    requestAnimationFrame(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
