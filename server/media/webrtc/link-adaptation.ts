import type { StreamSize } from '../../../shared/media/signal.ts'
import type { CameraLease } from '../feeds/camera-pulls.ts'
import type { Feed, Sink } from '../feeds/feed.ts'
import type { SecondStream } from '../feeds/second-stream.ts'
import type { Lifetime } from '../lifetime.ts'
import type { LinkEstimate } from './link-estimate.ts'
import { Probe } from './probe.ts'
import type { ViewerVideo } from './viewer-video.ts'

/** What is heard in the first moments after a change is of what was sent before, in milliseconds. */
const settleMs = 1_200
/** Bits a second that are tried at least. */
const leastRate = 200_000
/** Of what was sent, where the link was too small for it. */
const cautious = 0.25
/** The second stream is sent so much faster than it comes where it waits: its key frames are larger than the rest. */
const catchUp = 1.3
/** A pacing that is so far behind sends more than the link carries, in milliseconds. */
const longestWaitMs = 2_000
/** Milliseconds from a change to the first probe. */
const probeAfterMs = 1_500
/** How much longer is waited after each probe that failed, and at most so long. Where little is sent, a viewer's estimate says little, and a probe costs sound. */
const patience = {
  small: { factor: 1.6, mostMs: 3_000 },
  key_frames: { factor: 2.5, mostMs: 8_000 },
} as const
/** After a return that did not last: twice as long each time, at most so long. One that lasted so long was none of these. */
const longestProbeAfterMs = 60_000
const lastedMs = 15_000
/** What a link must carry beyond a stream for it to be sent. */
const margin = 1.1
/** A probe begins at so much more than is sent, or at so much of what the viewer estimates. */
const firstStep = 1.25
const ofEstimate = 0.9
/** Key frames alone say little of a link: of what it seemed to carry. */
const ofCarried = 0.8
/** A second stream that could not be had is asked for again after so many milliseconds. */
const retrySecondMs = 30_000

/** What an adaptation works on. */
export interface AdaptationOptions {
  video: ViewerVideo
  estimate: LinkEstimate
  main: Feed
  /** undefined: there is nothing smaller. */
  second: SecondStream | undefined
  lifetime: Lifetime
  /** Told what the viewer is sent from now on. */
  changed: (size: StreamSize) => void
  /** A packet of the second stream threw what nobody foresaw. */
  failed: (error: unknown) => void
}

/**
 * What a viewer is sent of a camera or person over a link that may be too small: everything, the camera's second stream, or key frames only. Down as soon as
 * the link is seen to be too small; up, one step at a time, when padding has shown that it carries more.
 */
export class LinkAdaptation {
  readonly #options: AdaptationOptions
  readonly #abort = new AbortController()
  #size: StreamSize = 'full'
  #lease: CameraLease | undefined
  #sink: Sink | undefined
  #probe: Probe | undefined
  /** The second stream is asked for. */
  #changing = false
  /** The main stream is waited for: it begins with a key frame. */
  #rising = false
  #changedAt = -Infinity
  #shortest = probeAfterMs
  #probeAfter = probeAfterMs
  #probedAt = -Infinity
  #noSecondUntil = -Infinity
  /** Bits a second of video that the link seemed to carry when it was last found too small. */
  #carries = 0

  constructor(options: AdaptationOptions) {
    this.#options = options
    options.lifetime.onEnd(() => {
      this.#abort.abort(new Error('the viewer is gone'))
      this.#releaseSecond()
    })
  }

  /** How high the viewer shows the picture, in device pixels; 0: not at all. */
  shown(height: number): void {
    const { video } = this.#options
    if (video.hidden === (height === 0)) return
    const now = performance.now()
    if (height > 0) {
      // Nothing was sent that could tell of the link.
      this.#changedAt = now
      return video.show(now)
    }
    this.#probe?.stop()
    this.#probe = undefined
    video.hide()
  }

  /** The viewer has said something of its link. */
  judge(now: number): void {
    if (this.#options.video.hidden || this.#changing || this.#probe !== undefined) return
    if (this.#options.estimate.tooSmall(now)) this.#goDown(now)
  }

  /** Once a second. */
  tick(now: number): void {
    if (
      this.#options.video.hidden ||
      this.#size === 'full' ||
      this.#changing ||
      this.#rising ||
      this.#probe !== undefined
    )
      return
    const { estimate, video } = this.#options
    if (now - this.#changedAt < settleMs) return
    if (this.#size === 'small') video.rate = this.#paceOf(this.#lease?.feed)
    if (this.#size === 'small' && video.waitMs > longestWaitMs) return this.#goDown(now)
    const quietSince = Math.max(this.#changedAt, this.#probedAt)
    if (now - quietSince < this.#probeAfter || estimate.strained(now - settleMs)) return
    this.#lookUp(now)
  }

  /** Its packets are sent from now on. */
  adopted(feed: Feed, limited: boolean): void {
    if (this.#size === 'full' || limited || feed !== this.#options.main) return
    this.#releaseSecond()
    this.#become('full')
  }

  #goDown(now: number): void {
    const { estimate, main, second, video } = this.#options
    const rate = this.#carried(now)
    this.#rising = false
    if (this.#size === 'full') {
      this.#shortest =
        now - this.#changedAt < lastedMs ? Math.min(longestProbeAfterMs, this.#shortest * 2) : probeAfterMs
      this.#probeAfter = this.#shortest
      this.#carries = rate
    }
    estimate.restart(now, settleMs)
    if (this.#size === 'key_frames') {
      video.rate = rate
      return
    }
    video.pause()
    if (this.#size === 'full' && second !== undefined && now >= this.#noSecondUntil) {
      void this.#takeSecond(rate)
      return
    }
    video.switchTo(this.#lease?.feed ?? main, { rate, keyFramesOnly: true })
    this.#become('key_frames')
  }

  async #takeSecond(rate: number): Promise<void> {
    const { lifetime, main, second, video } = this.#options
    const { codec } = main.video ?? { codec: 'H264' }
    this.#changing = true
    const lost = lifetime.guard(() => this.#lostSecond())
    const lease = await second?.acquire(codec, this.#abort.signal, lost)
    lifetime.guard(() => {
      this.#changing = false
      if (lease === undefined) {
        this.#noSecondUntil = performance.now() + retrySecondMs
        video.switchTo(main, { rate, keyFramesOnly: true })
        return this.#become('key_frames')
      }
      this.#lease = lease
      this.#sink = this.#sinkOf(lease.feed)
      lease.feed.add(this.#sink)
      video.switchTo(lease.feed, { rate: this.#paceOf(lease.feed), keyFramesOnly: false })
      this.#become('small')
    })()
    if (lifetime.over) lease?.release()
  }

  /** Whether more could be sent than is. */
  #lookUp(now: number): void {
    const { estimate, lifetime, main, video } = this.#options
    const up = this.#size === 'key_frames' && this.#lease !== undefined ? this.#lease.feed : main
    this.#probe = new Probe({
      from: Math.max(
        leastRate,
        estimate.rate(now) * firstStep,
        (estimate.bitrate ?? 0) * ofEstimate,
        this.#size === 'key_frames' ? this.#carries * ofCarried : 0,
      ),
      to: Math.max(leastRate, up.videoBitrate * margin),
      estimate,
      lifetime,
      sendPadding: () => video.sendPadding(),
      done: (carries) => {
        this.#probe = undefined
        this.#probedAt = performance.now()
        if (carries) return this.#goUp(up)
        estimate.restart(this.#probedAt, settleMs)
        const { factor, mostMs } = patience[this.#size === 'small' ? 'small' : 'key_frames']
        this.#probeAfter = Math.max(this.#shortest, Math.min(mostMs, this.#probeAfter * factor))
      },
    })
  }

  #goUp(feed: Feed): void {
    const { estimate, main, video } = this.#options
    if (feed === main) {
      this.#rising = true
      return video.switchTo(main)
    }
    this.#carries = estimate.rate(performance.now())
    video.switchTo(feed, { rate: this.#paceOf(feed), keyFramesOnly: false })
    this.#become('small')
  }

  /** Bits a second of video that the link carries by all signs; they are late, and the link's queue is full. */
  #carried(now: number): number {
    const { estimate } = this.#options
    const rate = estimate.rate(now)
    return Math.max(leastRate, Math.min(rate * cautious, rate * (1 - estimate.lost), estimate.bitrate ?? rate))
  }

  /** Bits a second at which the second stream is sent. */
  #paceOf(feed: Feed | undefined): number {
    return Math.max(leastRate, this.#carries, (feed?.videoBitrate ?? 0) * catchUp)
  }

  #become(size: StreamSize): void {
    this.#changedAt = performance.now()
    this.#options.estimate.restart(this.#changedAt, settleMs)
    if (this.#size === size) return
    this.#size = size
    this.#options.changed(size)
  }

  /** The second stream ended by itself: key frames of the main one, until more can be sent. */
  #lostSecond(): void {
    this.#noSecondUntil = performance.now() + retrySecondMs
    if (this.#lease === undefined) return
    this.#releaseSecond()
    const { main, video } = this.#options
    this.#probe?.stop()
    this.#probe = undefined
    const rate = this.#carried(performance.now())
    video.pause()
    video.switchTo(main, { rate, keyFramesOnly: true })
    this.#become('key_frames')
  }

  #releaseSecond(): void {
    const lease = this.#lease
    this.#lease = undefined
    if (lease === undefined) return
    if (this.#sink !== undefined) lease.feed.remove(this.#sink)
    lease.release()
  }

  /** Takes the pictures of the second stream: sound is the main stream's. */
  #sinkOf(feed: Feed): Sink {
    const { failed, video } = this.#options
    return {
      video: (packet, sequence) => video.take(feed, packet, sequence),
      audio: () => {},
      report: () => {},
      // The pull tells that, too.
      ended: () => {},
      failed,
    }
  }
}
