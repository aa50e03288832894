import type { Feed, PictureStream, PictureStreams } from '../feeds/feed.ts'

/** Wait before a failed stream is tried again, in milliseconds. */
const retryMs = 30_000

/**
 * Share of the shown height that makes a stream large enough, and the lower share for the stream that is sent already.
 */
const enough = 0.8
const stillEnough = 0.65
/**
 * Assumed height of a stream of unknown height, as a share of the next larger stream's height. Second streams of
 * cameras have about a third to a half.
 */
const guess = 1 / 3

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

/**
 * Returns the index of the smallest stream that is large enough for the shown height, or of the largest stream if none
 * is. An unknown height counts as a third of the previous stream's height.
 * @param list largest first, not empty
 * @param height shown by the viewer, in pixels; Infinity: unknown
 * @param sent the current stream, which needs a smaller share of the shown height
 */
export function wantedIndex(list: readonly PictureStream[], height: number, sent: PictureStream | undefined): number {
  let known = 0
  let wanted = 0
  for (const [index, stream] of list.entries()) {
    known = stream.height > 0 ? stream.height : known * guess
    if (known >= height * (stream === sent ? stillEnough : enough)) wanted = index
  }
  return wanted
}

/**
 * Returns the index of the largest allowed stream. `max` itself may no longer be in the list.
 * @param list largest first, not empty
 * @param max largest stream that is allowed; undefined: all are allowed
 */
export function allowedIndex(list: readonly PictureStream[], max: PictureStream | undefined): number {
  if (max === undefined) return 0
  const index = list.indexOf(max)
  if (index >= 0) return index
  const smaller = list.findIndex(({ height }) => height > 0 && height <= max.height)
  return smaller >= 0 ? smaller : list.length - 1
}

/**
 * Returns the largest stream that a link carries, by recent bitrates, or the smallest if it carries none; undefined if
 * the list is empty.
 */
export function affordableStream(list: readonly PictureStream[], bitsPerSecond: number): PictureStream | undefined {
  return list.find(({ bitrate }) => bitrate > 0 && bitrate <= bitsPerSecond) ?? list.at(-1)
}
