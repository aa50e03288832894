import type { Feed } from '../feeds/feed.ts'
import type { PictureStream } from '../feeds/feed.ts'
import type { LinkEstimate } from './link-estimate.ts'
import type { Limit } from './paced-video.ts'

/** Least rate that a link is tried with, in bits a second. */
export const minRate = 200_000
/** Rate of a smaller stream where it waits, in parts of its bitrate: its key frames are larger than the rest. */
const catchUp = 1.3
/** Queueing delay, in milliseconds, above which a queue is left to empty: nothing is caught up on meanwhile, and nothing probed. */
const longQueueMs = 80
/** Slowdown of key frames each time that their queue is long. */
const slowdown = 0.8
/** Part of a link's rate that it is tried with after key frames alone, which say little of it. */
const afterKeyFrames = 0.8

/** Known limits of a viewer's link. Rates are bits a second of video. */
export class LinkLimit {
  readonly #estimate: LinkEstimate
  /** Largest stream that the link carries; undefined: every one. */
  largest: PictureStream | undefined
  /** Rate when the link was last found too small. */
  rate = 0
  #keyFramesOnly = false
  /** Part of the rate that key frames are sent at. */
  #slowed = 1

  constructor(estimate: LinkEstimate) {
    this.#estimate = estimate
  }

  /** The link does not even carry the smallest stream. */
  get keyFramesOnly(): boolean {
    return this.#keyFramesOnly
  }

  /** Whether anything is left out. */
  get any(): boolean {
    return this.largest !== undefined || this.#keyFramesOnly
  }

  /** Whether the link's queue is long: it has to empty first. */
  get hasLongQueue(): boolean {
    return this.#estimate.queue.latest > longQueueMs
  }

  /** Limits the link to key frames. */
  toKeyFrames(): void {
    this.#keyFramesOnly = true
    this.#slowed = 1
  }

  /** Lifts the limit to key frames. */
  fromKeyFrames(): void {
    this.#keyFramesOnly = false
  }

  /** Sends key frames slower: each takes a second, and sound would wait all the time. */
  slowDown(): void {
    this.#slowed *= slowdown
  }

  /** Rate of key frames. */
  get keyFrameRate(): number {
    return Math.max(minRate, this.rate * this.#slowed)
  }

  /** Rate at which a smaller stream is sent. */
  paceOf({ picture: { bitrate } }: Feed): number {
    const emptying = this.hasLongQueue && bitrate > 0
    return Math.max(minRate, emptying ? bitrate : Math.max(this.rate, bitrate * catchUp))
  }

  /** Limit for a feed; undefined: it is sent as it comes. */
  of(feed: Feed): Limit | undefined {
    if (this.#keyFramesOnly) return { rate: this.keyFrameRate, keyFramesOnly: true }
    return this.largest === undefined ? undefined : { rate: this.paceOf(feed), keyFramesOnly: false }
  }

  /** Rate that a probe may begin with, by this limit. */
  get probeRate(): number {
    return this.#keyFramesOnly ? this.rate * afterKeyFrames : 0
  }
}
