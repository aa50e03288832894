import type { Feed } from '../feeds/feed.ts'
import type { PictureStream } from '../feeds/feed.ts'
import type { LinkEstimate } from './link-estimate.ts'
import type { Limit } from './paced-video.ts'

/** Minimum rate that a link is tried with, in bits per second. */
export const minRate = 200_000
/**
 * Sending rate of a smaller stream that is paced, as a multiple of its bitrate, because its key frames are larger than
 * other pictures.
 */
const catchUp = 1.3
/** Queueing delay, in milliseconds, above which the queue must empty first: no catching up and no probing meanwhile. */
const longQueueMs = 80
/** Factor that slows key frames each time their queue is long. */
const slowdown = 0.8
/** Share of a link's rate that is tried after sending key frames only, which reveal little about the link. */
const afterKeyFrames = 0.8

/** Known limits of a viewer's link. Rates are bits per second of video. */
export class LinkLimit {
  readonly #estimate: LinkEstimate
  /** Largest stream that the link carries; undefined: any. */
  largest: PictureStream | undefined
  /** Rate when the link was last found too small. */
  rate = 0
  #keyFramesOnly = false
  /** Factor for the rate of key frames. */
  #slowed = 1

  constructor(estimate: LinkEstimate) {
    this.#estimate = estimate
  }

  /** Whether the link does not even carry the smallest stream. */
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

  /** Sends key frames slower. Each takes a second, and sound would always wait behind them. */
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

  /** Rate that a probe may begin with. */
  get probeRate(): number {
    return this.#keyFramesOnly ? this.rate * afterKeyFrames : 0
  }
}
