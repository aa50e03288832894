import type { StreamSize } from '../../../shared/media/signal.ts'
import type { Feed } from '../feeds/feed.ts'
import type { PictureStream, PictureStreams } from '../feeds/feed.ts'
import type { Lifetime } from '../base/lifetime.ts'
import type { LinkEstimate } from './link-estimate.ts'
import { LinkLimit, minRate } from './link-limit.ts'
import { LinkProbe } from './link-probe.ts'
import { affordableStream, StreamSelection } from './stream-selection.ts'
import { StreamSwitch } from './stream-switch.ts'
import type { ViewerVideo } from './viewer-video.ts'

/** Time after a change, in milliseconds, in which feedback still describes packets sent before the change. */
const settleMs = 1_200
/** Wait from a change to the first probe, in milliseconds. */
const firstWaitMs = 1_500
/**
 * Growth factor of the wait after each failed probe, and maximum wait in milliseconds. Padding of a failed probe costs
 * sound quality.
 */
const growth = 1.6
const maxAfterFailureMs = 2_500
/**
 * Maximum wait, in milliseconds, after returns to the full stream that did not last. Each short return doubles the
 * wait.
 */
const maxReturnWaitMs = 60_000
/** Minimum duration of a successful return to the full stream, in milliseconds. */
const lastedMs = 15_000

/** Share of the sent rate that is tried on a link after it was too small. */
const cautious = 0.25
/** Pacing delay, in milliseconds, above which the link is too small for the stream. */
const maxPaceMs = 2_000
/** Rate that a link must carry for a stream, as a multiple of the stream's bitrate. */
const margin = 1.1
/** Rate of a probe's first step, as a multiple of the sent rate and of the viewer's estimate. */
const firstStep = 1.25
const ofEstimate = 0.9

export interface AdaptationOptions {
  video: ViewerVideo
  estimate: LinkEstimate
  main: Feed
  streams: PictureStreams
  lifetime: Lifetime
  /** Starts a measurement of the round trip. */
  measure: () => void
  /** Called when the size of the sent picture changes. */
  changed: (size: StreamSize) => void
  /** Called when handling a packet throws an unexpected error. */
  failed: (error: unknown) => void
}

/**
 * Adapts the picture to a viewer's link and screen. Sends the smallest stream that is large enough, as far as the link
 * carries it, and key frames only if the link carries no stream. Switches to a smaller stream as soon as the link
 * proves too small. Switches to a larger stream one step at a time, after a probe with padding.
 */
export class LinkAdaptation {
  readonly #options: AdaptationOptions
  readonly #switch: StreamSwitch
  readonly #selection: StreamSelection
  readonly #limit: LinkLimit
  readonly #times = new AdaptationTimes()
  #begun = false
  #size: StreamSize = 'full'
  #probe: LinkProbe | undefined
  /** Whether the next key frame of a larger stream is awaited. */
  #rising = false

  constructor(options: AdaptationOptions) {
    this.#options = options
    const { estimate, failed, lifetime, main, streams, video } = options
    this.#selection = new StreamSelection(streams)
    this.#limit = new LinkLimit(estimate)
    this.#switch = new StreamSwitch({ video, main, lifetime, failed, lost: (stream) => this.#onLost(stream) })
    lifetime.onEnd(streams.onChange(lifetime.guard(() => this.#follow())))
  }

  /** Sends the first stream once the viewer is connected. */
  start(): void {
    this.#begun = true
    this.#follow()
  }

  /** Sets the height at which the viewer shows the picture, in device pixels; 0: the picture is hidden. */
  shown(height: number): void {
    const { video } = this.#options
    const now = performance.now()
    this.#selection.height = height
    if (height === 0) {
      if (video.hidden) return
      this.#stopProbe()
      return video.hide()
    }
    this.#follow()
    if (!video.hidden) return
    // No packets were sent while the picture was hidden, so the link's capacity is unknown.
    this.#times.changed(now)
    video.show(now)
  }

  /** Checks the link after feedback from the viewer. */
  judge(now: number): void {
    if (this.#options.video.hidden || this.#switch.asking || this.#probe !== undefined) return
    if (this.#options.estimate.tooSmall(now)) this.#goDown(now)
  }

  /** Adjusts rates and begins probes, once a second. */
  tick(now: number): void {
    if (!this.#limit.any || this.#options.video.hidden || this.#switch.asking) return
    if (this.#rising || this.#probe !== undefined || !this.#times.isSettled(now)) return
    const { estimate, video } = this.#options
    if (!this.#limit.keyFramesOnly) {
      video.pace.rate = this.#limit.paceOf(this.#switch.feed)
      if (video.pace.waitMs > maxPaceMs) return this.#goDown(now)
    } else if (this.#limit.hasLongQueue && video.pace.waitMs > 0) {
      this.#limit.slowDown()
      video.pace.rate = this.#limit.keyFrameRate
    }
    const up = this.#larger()
    if (up === undefined || !this.#times.mayProbe(now)) return
    if (estimate.strained(now - settleMs) || this.#limit.hasLongQueue) return
    this.#probeFor(up, now)
  }

  /** Records that packets of this feed are sent from now on. */
  adopted(feed: Feed, limited: boolean): void {
    this.#switch.adopted(feed)
    if (!this.#rising || limited) return
    this.#rising = false
    this.#onChange()
  }

  /** Sends the stream that fits the available streams, the shown height and the link. */
  #follow(): void {
    const selection = this.#selection
    if (!this.#begun || selection.height === 0 || this.#switch.asking) return
    const target = selection.target(this.#limit.largest)
    if (target === undefined) return
    if (selection.current === undefined) {
      const first = selection.atHand(target)
      if (first === undefined) return
      selection.current = first
      this.#switch.start(first, first.feed)
    }
    if (target !== selection.current) {
      this.#stopProbe()
      this.#rising = false
      this.#options.estimate.restart(performance.now(), settleMs)
      this.#take(target)
    }
    this.#notifySize()
  }

  #take(stream: PictureStream): void {
    this.#selection.current = stream
    this.#switch.take(stream, (feed) => this.#limit.of(feed))
  }

  #goDown(now: number): void {
    const { estimate, video } = this.#options
    const limit = this.#limit
    const rate = this.#capacity(now)
    this.#rising = false
    if (!limit.any) this.#times.returnFailed(now)
    estimate.restart(now, settleMs)
    if (limit.keyFramesOnly) {
      video.pace.rate = rate
      return
    }
    const next = affordableStream(this.#selection.smaller, rate)
    if (next !== undefined || limit.largest === undefined) limit.rate = rate
    video.pause()
    if (next === undefined) this.#sendKeyFrames(rate)
    else {
      limit.largest = next
      this.#take(next)
      this.#onChange()
    }
  }

  /** Sends key frames only, from the stream that was sent last. */
  #sendKeyFrames(rate: number): void {
    this.#limit.toKeyFrames()
    this.#selection.current = this.#switch.stream ?? this.#selection.list[0]
    this.#options.video.switchTo(this.#switch.feed, { rate, keyFramesOnly: true })
    this.#onChange()
  }

  /**
   * Returns the stream to probe for: the current stream if only key frames are sent, otherwise the next larger stream;
   * undefined: no larger stream is needed.
   */
  #larger(): PictureStream | undefined {
    return this.#limit.keyFramesOnly ? this.#selection.current : this.#selection.larger(this.#limit.largest)
  }

  #probeFor(up: PictureStream, now: number): void {
    const { estimate, lifetime, measure, video } = this.#options
    this.#probe = new LinkProbe({
      from: Math.max(
        minRate,
        estimate.rate(now) * firstStep,
        (estimate.bitrate ?? 0) * ofEstimate,
        this.#limit.probeRate,
      ),
      to: Math.max(minRate, up.bitrate * margin),
      estimate,
      lifetime,
      sendPadding: () => video.sendPadding(),
      measure,
      done: (carries) => {
        const ended = performance.now()
        this.#probe = undefined
        this.#times.probed(ended, carries)
        if (carries) return this.#goUp(up)
        video.pace.rest()
        estimate.restart(ended, settleMs)
      },
    })
  }

  #goUp(up: PictureStream): void {
    const limit = this.#limit
    limit.fromKeyFrames()
    if (this.#selection.isEnough(up)) {
      limit.largest = undefined
      this.#rising = true
      return this.#take(up)
    }
    limit.largest = up
    limit.rate = this.#options.estimate.rate(performance.now())
    this.#take(up)
    this.#onChange()
  }

  /**
   * Returns the link's capacity for video, in bits per second. The value is deliberately low: when the signs arrive,
   * the link's queue is already full.
   */
  #capacity(now: number): number {
    const { estimate } = this.#options
    const rate = estimate.rate(now)
    return Math.max(minRate, Math.min(rate * cautious, rate * (1 - estimate.lost), estimate.bitrate ?? rate))
  }

  #onChange(): void {
    const now = performance.now()
    this.#times.changed(now)
    this.#options.estimate.restart(now, settleMs)
    this.#notifySize()
  }

  #notifySize(): void {
    if (this.#rising) return
    const size = this.#limit.keyFramesOnly ? 'key_frames' : this.#larger() === undefined ? 'full' : 'small'
    if (this.#size === size) return
    this.#size = size
    this.#options.changed(size)
  }

  /**
   * Falls back to another stream when a stream could not be acquired or has ended. Sends key frames only if the link is
   * limited.
   */
  #onLost(stream: PictureStream): void {
    const selection = this.#selection
    selection.refuse(stream)
    if (selection.current !== stream) return
    this.#stopProbe()
    selection.current = this.#switch.stream ?? selection.list[0]
    if (this.#limit.largest === undefined) {
      if (selection.current !== undefined) this.#take(selection.current)
      return
    }
    this.#options.video.pause()
    this.#sendKeyFrames(Math.max(minRate, this.#limit.rate))
  }

  #stopProbe(): void {
    this.#probe?.stop()
    this.#probe = undefined
  }
}

/**
 * Times of a link's last change and last probe, and the wait before the next probe. Times are milliseconds of a
 * monotonic clock.
 */
class AdaptationTimes {
  #changedAt = -Infinity
  #probedAt = -Infinity
  /** Wait since the last change or probe, and the current minimum of this wait. */
  #wait = firstWaitMs
  #minWait = firstWaitMs

  /** Records a change of the sent stream. */
  changed(now: number): void {
    this.#changedAt = now
  }

  /**
   * Records that the link did not carry the full stream. Each return to the full stream that did not last doubles the
   * wait.
   */
  returnFailed(now: number): void {
    this.#minWait = now - this.#changedAt < lastedMs ? Math.min(maxReturnWaitMs, this.#minWait * 2) : firstWaitMs
    this.#wait = this.#minWait
  }

  /** Records the end of a probe. */
  probed(now: number, carries: boolean): void {
    this.#probedAt = now
    if (!carries) this.#wait = Math.max(this.#minWait, Math.min(maxAfterFailureMs, this.#wait * growth))
  }

  /** Whether feedback describes what is sent now. */
  isSettled(now: number): boolean {
    return now - this.#changedAt >= settleMs
  }

  mayProbe(now: number): boolean {
    return now - Math.max(this.#changedAt, this.#probedAt) >= this.#wait
  }
}
