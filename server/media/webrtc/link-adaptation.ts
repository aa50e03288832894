import type { StreamSize } from '../../../shared/media/signal.ts'
import type { Feed } from '../feeds/feed.ts'
import type { PictureStream, PictureStreams } from '../feeds/feed.ts'
import type { Lifetime } from '../base/lifetime.ts'
import type { LinkEstimate } from './link-estimate.ts'
import { Probe } from './link-probe.ts'
import { allowedIndex, carriedStream, wantedIndex } from './stream-choice.ts'
import { StreamSwitch } from './stream-switch.ts'
import type { Limit, ViewerVideo } from './viewer-video.ts'

/** What is heard in the first moments after a change is of what was sent before, in milliseconds. */
const settleMs = 1_200
/** Bits a second that are tried at least. */
const minRate = 200_000
/** Of what was sent, where the link was too small for it. */
const cautious = 0.25
/** A smaller stream is sent so much faster than it comes where it waits: its key frames are larger than the rest. */
const catchUp = 1.3
/** A queue that is so long, in milliseconds, is let empty: nothing is made up for meanwhile, and nothing tried. */
const longQueueMs = 80
/** What key frames are sent at, where their queue is long, in parts of what they were. */
const slower = 0.8
/** A pacing that is so far behind sends more than the link carries, in milliseconds. */
const maxWaitMs = 2_000
/** Milliseconds from a change to the first probe. */
const probeAfterMs = 1_500
/** How much longer is waited after each probe that failed, and at most so long. Where little is sent, a viewer's estimate says little, and a probe costs sound. */
const patience = {
  small: { factor: 1.6, maxMs: 2_500 },
  key_frames: { factor: 1.6, maxMs: 2_500 },
} as const
/** After a return that did not last: twice as long each time, at most so long. One that lasted so long was none of these. */
const maxProbeAfterMs = 60_000
const lastedMs = 15_000
/** What a link must carry beyond a stream for it to be sent. */
const margin = 1.1
/** A probe begins at so much more than is sent, or at so much of what the viewer estimates. */
const firstStep = 1.25
const ofEstimate = 0.9
/** Key frames alone say little of a link: of what it seemed to carry. */
const ofCarried = 0.8
/** A stream that could not be had is asked for again after so many milliseconds. */
const retryMs = 30_000

/** What an adaptation works on. */
export interface AdaptationOptions {
  video: ViewerVideo
  estimate: LinkEstimate
  main: Feed
  streams: PictureStreams
  lifetime: Lifetime
  /** Has the round trip measured now. */
  measure: () => void
  /** Told what the viewer is sent from now on. */
  changed: (size: StreamSize) => void
  /** A packet of a stream threw what nobody foresaw. */
  failed: (error: unknown) => void
}

/**
 * What a viewer is sent of a picture that there may be in several sizes: the smallest stream that is large enough for how it shows it, as far as its link carries
 * that; key frames only where the link is too small for all of them. Down as soon as the link is seen to be too small; up, one step at a time, when padding has
 * shown that it carries more.
 */
export class LinkAdaptation {
  readonly #options: AdaptationOptions
  readonly #switch: StreamSwitch
  #begun = false
  #size: StreamSize = 'full'
  /** In pixels. */
  #height = Infinity
  /** What is sent, or waited for. */
  #asked: PictureStream | undefined
  /** The largest that the link carries, as far as is known; undefined: every one. */
  #most: PictureStream | undefined
  /** It does not even carry the smallest. */
  #keyFrames = false
  #probe: Probe | undefined
  /** A larger stream is waited for: it begins with a key frame. */
  #rising = false
  #changedAt = -Infinity
  #shortest = probeAfterMs
  #probeAfter = probeAfterMs
  #probedAt = -Infinity
  /** Streams that could not be had, and until when they are not asked for. */
  readonly #refused = new Map<PictureStream, number>()
  /** Bits a second of video that the link seemed to carry when it was last found too small. */
  #carries = 0
  /** Share of it that key frames are sent at. */
  #slowed = 1

  constructor(options: AdaptationOptions) {
    this.#options = options
    const { failed, lifetime, main, streams, video } = options
    this.#switch = new StreamSwitch({ video, main, lifetime, failed, lost: (stream) => this.#lost(stream) })
    lifetime.onEnd(streams.onChange(lifetime.guard(() => this.#follow())))
  }

  /** The viewer is connected. */
  start(): void {
    this.#begun = true
    this.#follow()
  }

  /** How high the viewer shows the picture, in device pixels; 0: not at all. */
  shown(height: number): void {
    const { video } = this.#options
    const now = performance.now()
    this.#height = height
    if (height === 0) {
      if (video.hidden) return
      this.#stopProbe()
      return video.hide()
    }
    this.#follow()
    if (!video.hidden) return
    // Nothing was sent that could tell of the link.
    this.#changedAt = now
    video.show(now)
  }

  /** The viewer has said something of its link. */
  judge(now: number): void {
    if (this.#options.video.hidden || this.#switch.asking || this.#probe !== undefined) return
    if (this.#options.estimate.tooSmall(now)) this.#goDown(now)
  }

  /** Once a second. */
  tick(now: number): void {
    const limited = this.#most !== undefined || this.#keyFrames
    if (!limited || this.#options.video.hidden || this.#switch.asking || this.#rising || this.#probe !== undefined)
      return
    const { estimate, video } = this.#options
    if (now - this.#changedAt < settleMs) return
    if (!this.#keyFrames) {
      video.rate = this.#paceOf(this.#switch.feed)
      if (video.waitMs > maxWaitMs) return this.#goDown(now)
    } else if (estimate.queue.latest > longQueueMs && video.waitMs > 0) {
      // A key frame takes a second, and sound would wait all the time.
      this.#slowed *= slower
      video.rate = this.#keyFrameRate
    }
    const up = this.#larger()
    const quietSince = Math.max(this.#changedAt, this.#probedAt)
    if (up === undefined || now - quietSince < this.#probeAfter) return
    if (estimate.strained(now - settleMs) || estimate.queue.latest > longQueueMs) return
    this.#lookUp(up, now)
  }

  /** Its packets are sent from now on. */
  adopted(feed: Feed, limited: boolean): void {
    this.#switch.adopted(feed)
    if (!this.#rising || limited) return
    this.#rising = false
    this.#become()
  }

  /** Those that can be had now, the largest first. */
  get #streams(): readonly PictureStream[] {
    const { list } = this.#options.streams
    if (this.#refused.size === 0) return list
    const now = performance.now()
    return list.filter((stream) => now >= (this.#refused.get(stream) ?? -Infinity))
  }

  /** Another stream is sent where that is the right one now: by what there is, by how the viewer shows it, and by its link. */
  #follow(): void {
    const list = this.#streams
    if (!this.#begun || this.#height === 0 || this.#switch.asking) return
    const target = list[Math.max(wantedIndex(list, this.#height, this.#asked), allowedIndex(list, this.#most))]
    if (target === undefined) return
    if (this.#asked === undefined) {
      const first = target.feed === undefined ? list.find(({ feed }) => feed !== undefined) : target
      if (first?.feed === undefined) return
      this.#asked = first
      this.#switch.start(first, first.feed)
    }
    if (target !== this.#asked) {
      this.#stopProbe()
      this.#rising = false
      this.#options.estimate.restart(performance.now(), settleMs)
      this.#take(target)
    }
    this.#tellSize()
  }

  #take(stream: PictureStream): void {
    this.#asked = stream
    this.#switch.take(stream, (feed) => this.#limitOf(feed))
  }

  #limitOf(feed: Feed): Limit | undefined {
    if (this.#keyFrames) return { rate: this.#keyFrameRate, keyFramesOnly: true }
    return this.#most === undefined ? undefined : { rate: this.#paceOf(feed), keyFramesOnly: false }
  }

  #goDown(now: number): void {
    const { estimate, video } = this.#options
    const rate = this.#carried(now)
    this.#rising = false
    if (this.#most === undefined && !this.#keyFrames) {
      this.#shortest = now - this.#changedAt < lastedMs ? Math.min(maxProbeAfterMs, this.#shortest * 2) : probeAfterMs
      this.#probeAfter = this.#shortest
    }
    estimate.restart(now, settleMs)
    if (this.#keyFrames) {
      video.rate = rate
      return
    }
    const list = this.#streams
    const smaller = this.#asked === undefined ? list : list.slice(list.indexOf(this.#asked) + 1)
    const next = carriedStream(smaller, rate)
    if (next !== undefined || this.#most === undefined) this.#carries = rate
    video.pause()
    if (next === undefined) this.#keyFramesAt(rate)
    else {
      this.#most = next
      this.#take(next)
      this.#become()
    }
  }

  /** Of what was sent last, key frames only. */
  #keyFramesAt(rate: number): void {
    this.#keyFrames = true
    this.#slowed = 1
    this.#asked = this.#switch.stream ?? this.#streams[0]
    this.#options.video.switchTo(this.#switch.feed, { rate, keyFramesOnly: true })
    this.#become()
  }

  /** What is sent more where the link carries it; undefined where nothing more is wanted. */
  #larger(): PictureStream | undefined {
    if (this.#keyFrames) return this.#asked
    const list = this.#streams
    const allowed = allowedIndex(list, this.#most)
    return allowed > wantedIndex(list, this.#height, this.#asked) ? list[allowed - 1] : undefined
  }

  /** Whether more could be sent than is. */
  #lookUp(up: PictureStream, now: number): void {
    const { estimate, lifetime, measure, video } = this.#options
    this.#probe = new Probe({
      from: Math.max(
        minRate,
        estimate.rate(now) * firstStep,
        (estimate.bitrate ?? 0) * ofEstimate,
        this.#keyFrames ? this.#carries * ofCarried : 0,
      ),
      to: Math.max(minRate, up.bitrate * margin),
      estimate,
      lifetime,
      sendPadding: () => video.sendPadding(),
      measure,
      done: (carries) => {
        this.#probe = undefined
        this.#probedAt = performance.now()
        if (carries) return this.#goUp(up)
        video.rest()
        estimate.restart(this.#probedAt, settleMs)
        const { factor, maxMs } = patience[this.#keyFrames ? 'key_frames' : 'small']
        this.#probeAfter = Math.max(this.#shortest, Math.min(maxMs, this.#probeAfter * factor))
      },
    })
  }

  #goUp(up: PictureStream): void {
    const list = this.#streams
    const index = list.indexOf(up)
    this.#keyFrames = false
    if (index <= wantedIndex(list, this.#height, this.#asked)) {
      this.#most = undefined
      this.#rising = true
      return this.#take(up)
    }
    this.#most = up
    this.#carries = this.#options.estimate.rate(performance.now())
    this.#take(up)
    this.#become()
  }

  /** Bits a second of video that the link carries by all signs; they are late, and the link's queue is full. */
  #carried(now: number): number {
    const { estimate } = this.#options
    const rate = estimate.rate(now)
    return Math.max(minRate, Math.min(rate * cautious, rate * (1 - estimate.lost), estimate.bitrate ?? rate))
  }

  get #keyFrameRate(): number {
    return Math.max(minRate, this.#carries * this.#slowed)
  }

  /** Bits a second at which a smaller stream is sent. */
  #paceOf(feed: Feed): number {
    const emptying = this.#options.estimate.queue.latest > longQueueMs && feed.picture.bitrate > 0
    return Math.max(minRate, emptying ? feed.picture.bitrate : Math.max(this.#carries, feed.picture.bitrate * catchUp))
  }

  #become(): void {
    this.#changedAt = performance.now()
    this.#options.estimate.restart(this.#changedAt, settleMs)
    this.#tellSize()
  }

  #tellSize(): void {
    if (this.#rising) return
    const size = this.#keyFrames ? 'key_frames' : this.#larger() === undefined ? 'full' : 'small'
    if (this.#size === size) return
    this.#size = size
    this.#options.changed(size)
  }

  /** It could not be had, or ended by itself: key frames of what there is, where the link carries nothing larger, until more can be sent. */
  #lost(stream: PictureStream): void {
    this.#refused.set(stream, performance.now() + retryMs)
    if (this.#asked !== stream) return
    this.#stopProbe()
    this.#asked = this.#switch.stream ?? this.#streams[0]
    if (this.#most === undefined) {
      if (this.#asked !== undefined) this.#take(this.#asked)
      return
    }
    this.#options.video.pause()
    this.#keyFramesAt(Math.max(minRate, this.#carries))
  }

  #stopProbe(): void {
    this.#probe?.stop()
    this.#probe = undefined
  }
}
