import { fetchOwn } from '../../../../kit/transport/page-half.ts'
import { z } from 'zod'
import { seam } from './media-feed.ts'
import type { Piece, PieceSource } from './piece.ts'

/** A picture before or after another one. */
export interface Beside {
  /** Its moment, in milliseconds since the epoch. */
  at: number
  /** Nothing was recorded between the two. */
  overGap: boolean
}

/** Times that differ by less are the same, in seconds. */
const sameTime = 0.001
/** Pieces without a picture that are passed on the way to one. */
const maxPassed = 10

const answerSchema = z.object({ times: z.array(z.number()) })

/** Exact moments of the pictures of one stream. Asks for those of a few seconds at once. */
export class PictureTimes {
  readonly #pieces: PieceSource
  /** Latest answer: times in seconds of the piece's media time. */
  #loaded: { id: number; times: readonly number[] } = { id: 0, times: [] }

  constructor(pieces: PieceSource) {
    this.#pieces = pieces
  }

  /**
   * Finds the picture before or after the one at a moment.
   * @param at milliseconds since the epoch
   * @returns undefined at the end of the recordings
   * @throws what the connection says
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
      // A later piece takes the place of the rest of this one.
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
      // Takes of the piece itself the picture before the one that is shown at that moment; of an earlier one, its last one.
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

  /** Looks in the latest answer, then in a new one. @param seconds media time of the piece */
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
