import type { Feed } from '../feeds/feed.ts'
import type { PictureStream, PictureStreams } from '../feeds/feed.ts'
import { allowedIndex, wantedIndex } from './stream-choice.ts'

/** Wait before a failed stream is tried again, in milliseconds. */
const retryMs = 30_000

/**
 * Streams of a picture that are available to a viewer, and the stream that fits the height at which the viewer shows
 * the picture. Lists begin with the largest stream.
 */
export class StreamSelection {
  readonly #streams: PictureStreams
  /** Failed streams, with the earliest time of the next attempt on a monotonic clock, in milliseconds. */
  readonly #refused = new Map<PictureStream, number>()
  /** Height at which the viewer shows the picture, in pixels; 0: hidden, Infinity: unknown. */
  height = Infinity
  /** Stream that is sent or awaited. */
  current: PictureStream | undefined

  constructor(streams: PictureStreams) {
    this.#streams = streams
  }

  get list(): readonly PictureStream[] {
    const { list } = this.#streams
    if (this.#refused.size === 0) return list
    const now = performance.now()
    return list.filter((stream) => now >= (this.#refused.get(stream) ?? -Infinity))
  }

  /** Returns a stream that already has a feed, preferably the target; undefined: no stream has a feed. */
  atHand(target: PictureStream): (PictureStream & { feed: Feed }) | undefined {
    return [target, ...this.list].find((stream): stream is PictureStream & { feed: Feed } => stream.feed !== undefined)
  }

  get smaller(): readonly PictureStream[] {
    const { current, list } = this
    return current === undefined ? list : list.slice(list.indexOf(current) + 1)
  }

  /** Excludes a stream for a while. */
  refuse(stream: PictureStream): void {
    this.#refused.set(stream, performance.now() + retryMs)
  }

  /** Returns the smallest stream that is large enough, at most `largest`. @param largest undefined: no limit */
  target(largest: PictureStream | undefined): PictureStream | undefined {
    const { list } = this
    return list[Math.max(this.#wanted(list), allowedIndex(list, largest))]
  }

  /** Returns the next stream above the largest allowed stream; undefined: no larger stream is needed. */
  larger(largest: PictureStream | undefined): PictureStream | undefined {
    const { list } = this
    const allowed = allowedIndex(list, largest)
    return allowed > this.#wanted(list) ? list[allowed - 1] : undefined
  }

  /** Whether no stream larger than this is needed. */
  isEnough(stream: PictureStream): boolean {
    const { list } = this
    return list.indexOf(stream) <= this.#wanted(list)
  }

  #wanted(list: readonly PictureStream[]): number {
    return wantedIndex(list, this.height, this.current)
  }
}
