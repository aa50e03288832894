import type { Feed } from '../feeds/feed.ts'
import type { PictureStream } from '../feeds/feed.ts'
import type { LinkEstimate } from './link-estimate.ts'
import type { Limit } from './paced-video.ts'

/** Minimum rate that is tried on a link, in bits per second. */
export const minRate = 200_000
/**
 * Sending rate of a smaller stream that is paced, as a multiple of its bitrate, because its key frames are larger than
 * other pictures.
 */
const catchUp = 1.3
/**
 * Queueing delay, in milliseconds, above which the queue must empty first. Until then, sending does not catch up and no
 * probe begins.
 */
const longQueueMs = 80
/** Factor that slows key frames each time their queue is long. */
const slowdown = 0.8
/** Share of a link's rate that a probe tries after key frames only. Key frames reveal little about the link. */
const afterKeyFrames = 0.8

/** Known limits of a viewer's link. Rates are bits per second of video. */
export class LinkLimit {
  readonly #estimate: LinkEstimate
  /** Largest stream that the link carries; undefined: any. */
  largest: PictureStream | undefined
  /** Assumed rate of the link since the last change of stream; 0 before the first limit. */
  rate = 0
  #keyFramesOnly = false
  /** Factor for the rate of key frames. */
  #slowed = 1

  constructor(estimate: LinkEstimate) {
    this.#estimate = estimate
  }

  /** Whether only key frames are sent, because the link does not carry the smallest stream. */
  get keyFramesOnly(): boolean {
    return this.#keyFramesOnly
  }

  get any(): boolean {
    return this.largest !== undefined || this.#keyFramesOnly
  }

  /** Whether the link's queue is so long that it has to empty first. */
  get hasLongQueue(): boolean {
    return this.#estimate.queue.latest > longQueueMs
  }

  toKeyFrames(): void {
    this.#keyFramesOnly = true
    this.#slowed = 1
  }

  fromKeyFrames(): void {
    this.#keyFramesOnly = false
  }

  /** Lowers the rate of key frames. A key frame takes about a second, and sound waits behind it. */
  slowDown(): void {
    this.#slowed *= slowdown
  }

  get keyFrameRate(): number {
    return Math.max(minRate, this.rate * this.#slowed)
  }

  /** Rate at which packets of a smaller stream are paced. */
  paceOf({ picture: { bitrate } }: Feed): number {
    const emptying = this.hasLongQueue && bitrate > 0
    return Math.max(minRate, emptying ? bitrate : Math.max(this.rate, bitrate * catchUp))
  }

  /** Returns the limit for a feed; undefined: the feed is sent without pacing. */
  of(feed: Feed): Limit | undefined {
    if (this.#keyFramesOnly) return { rate: this.keyFrameRate, keyFramesOnly: true }
    return this.largest === undefined ? undefined : { rate: this.paceOf(feed), keyFramesOnly: false }
  }

  /** Minimum rate of a probe's first step; 0: no minimum. */
  get probeRate(): number {
    return this.#keyFramesOnly ? this.rate * afterKeyFrames : 0
  }
}
