import type { Feed } from '../feeds/feed.ts'
import type { PictureStream, PictureStreams } from '../feeds/feed.ts'
import { allowedIndex, wantedIndex } from './stream-choice.ts'

/** Wait before a stream that could not be had is tried again, in milliseconds. */
const retryMs = 30_000

/** Streams of a picture that a viewer may be sent, and the one that fits how it shows the picture. Lists begin with the largest. */
export class StreamSelection {
  readonly #streams: PictureStreams
  /** Streams that could not be had, and until when they are left out. */
  readonly #refused = new Map<PictureStream, number>()
  /** Height in which the viewer shows the picture, in pixels; 0: not at all, Infinity: not known. */
  height = Infinity
  /** Stream that is sent, or waited for. */
  current: PictureStream | undefined

  constructor(streams: PictureStreams) {
    this.#streams = streams
  }

  /** Streams that can be had now. */
  get list(): readonly PictureStream[] {
    const { list } = this.#streams
    if (this.#refused.size === 0) return list
    const now = performance.now()
    return list.filter((stream) => now >= (this.#refused.get(stream) ?? -Infinity))
  }

  /** First stream for a target that may have to be acquired: one that is at hand. */
  atHand(target: PictureStream): (PictureStream & { feed: Feed }) | undefined {
    return [target, ...this.list].find((stream): stream is PictureStream & { feed: Feed } => stream.feed !== undefined)
  }

  /** Streams smaller than the current one. */
  get smaller(): readonly PictureStream[] {
    const { current, list } = this
    return current === undefined ? list : list.slice(list.indexOf(current) + 1)
  }

  /** Leaves a stream out for a while. */
  refuse(stream: PictureStream): void {
    this.#refused.set(stream, performance.now() + retryMs)
  }

  /** Smallest stream that is large enough, or the largest allowed. @param largest allowed; undefined: every one is */
  target(largest: PictureStream | undefined): PictureStream | undefined {
    const { list } = this
    return list[Math.max(this.#wanted(list), allowedIndex(list, largest))]
  }

  /** Next larger stream than the largest allowed, where a larger one is wanted. */
  larger(largest: PictureStream | undefined): PictureStream | undefined {
    const { list } = this
    const allowed = allowedIndex(list, largest)
    return allowed > this.#wanted(list) ? list[allowed - 1] : undefined
  }

  /** Whether no smaller stream than this is wanted. */
  isEnough(stream: PictureStream): boolean {
    const { list } = this
    return list.indexOf(stream) <= this.#wanted(list)
  }

  #wanted(list: readonly PictureStream[]): number {
    return wantedIndex(list, this.height, this.current)
  }
}
