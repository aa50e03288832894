import type { Feed } from '../feeds/feed.ts'
import type { PictureStream, PictureStreams } from '../feeds/feed.ts'
import { allowedIndex, wantedIndex } from './stream-choice.ts'

/** Wait before a failed stream is tried again, in milliseconds. */
const retryMs = 30_000

/**
 * Streams of a picture that are available to a viewer, and the stream that fits the height in which the viewer shows
 * it. Lists begin with the largest.
 */
export class StreamSelection {
  readonly #streams: PictureStreams
  /** Failed streams, and when each may be tried again. */
  readonly #refused = new Map<PictureStream, number>()
  /** Height in which the viewer shows the picture, in pixels; 0: not at all, Infinity: unknown. */
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

  /** Returns a stream that has a feed already, to begin with; preferably the target. */
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

  /** Smallest stream that is large enough, or the largest allowed. @param largest allowed; undefined: any */
  target(largest: PictureStream | undefined): PictureStream | undefined {
    const { list } = this
    return list[Math.max(this.#wanted(list), allowedIndex(list, largest))]
  }

  /** Next larger stream than the largest allowed, if a larger one is needed. */
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
