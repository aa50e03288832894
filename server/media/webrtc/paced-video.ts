import type { Lifetime } from '../base/lifetime.ts'
import type { PacketLoan } from '../feeds/fan-out.ts'
import type { Feed } from '../feeds/feed.ts'
import { sequenceOf, type SharedPacket, timestampOf } from '../rtp/packet.ts'
import { GopBurst } from './gop-burst.ts'
import type { RunTimes } from './sent-video.ts'
import type { VideoSender } from './video-sender.ts'

/** Maximum time, in milliseconds, to send the pictures since the last key frame before live pictures. */
const maxCatchUpMs = 800
/** Pacing delay, in milliseconds, above which the next key frame is skipped. */
const maxWaitMs = 1_000
/** Time for the queue of an overloaded link to empty, in milliseconds. Sound is still sent in this time. */
const emptyQueueMs = 250
/** Interval of requests for key frames while only key frames are sent, in milliseconds. */
const keyFrameEveryMs = 2_500
/** Interval of sending from the queue, in milliseconds. */
const everyMs = 10
/** Maximum burst after a pause: the bytes that the rate allows in this many milliseconds. */
const atOnceMs = 60

/** Limit for a feed on a link that is too small for it. */
export interface Limit {
  /** Bits per second. */
  rate: number
  /** Whether all other pictures are skipped. */
  keyFramesOnly: boolean
}

interface WaitingPacket {
  /** Owned by the feed; must not be changed. */
  packet: SharedPacket
  feed: Feed
  sequence: number
  /** Times of the run that the packet begins; undefined for the other packets of a run. */
  times: RunTimes | undefined
}

/** Sends video to a viewer no faster than its link carries. */
export class PacedVideo {
  readonly #sender: VideoSender
  readonly #pacer: Pacer<WaitingPacket>
  /** Timestamp and time of arrival of the key frame that is sent while other pictures are skipped. */
  #keyTimestamp = -1
  #keyAt = 0
  /** Times of the run that the next packet begins. */
  #times: RunTimes | undefined
  /** Changed timestamps of the run that is being sent; undefined: unchanged. */
  #timestamps: ReadonlyMap<number, number> | undefined

  constructor(sender: VideoSender, lifetime: Lifetime) {
    this.#sender = sender
    this.#pacer = new Pacer(lifetime, 0, (waiting) => this.#send(waiting))
  }

  /** Delay of a packet pushed now, in milliseconds. */
  get waitMs(): number {
    return this.#pacer.waitMs
  }

  set rate(rate: number) {
    this.#pacer.rate = rate
  }

  /** Pauses sending until the link's queue has had time to empty. */
  rest(): void {
    this.#pacer.rest(emptyQueueMs)
  }

  clear(): void {
    this.#pacer.clear()
  }

  /** Begins a run with a key frame, whose packets follow. */
  begin(feed: Feed, timestamp: number): void {
    this.#keyTimestamp = timestamp
    this.#keyAt = performance.now()
    this.#times = this.#sender.timesOf(feed, timestamp)
  }

  /**
   * Sends a packet of the feed. Skips a packet that the feed no longer keeps. If only key frames are sent, skips
   * packets of other pictures.
   */
  take(feed: Feed, { timestamp }: PacketLoan, sequence: number, keyFramesOnly: boolean): void {
    if (keyFramesOnly && !this.#isOfKeyFrame(feed, timestamp)) return
    const kept = feed.sentVideo(sequence)
    if (kept === undefined) return
    this.#pacer.push({ packet: kept, feed, sequence, times: this.#times })
    this.#times = undefined
  }

  /** Whether sending the pictures since the last key frame takes little time. */
  mayCatchUp({ gop }: Feed, rate: number): boolean {
    if (gop.length === 0) return false
    const bytes = gop.reduce((sum, { length }) => sum + length, 0)
    return (bytes * 8_000) / rate <= maxCatchUpMs
  }

  /** Sends the pictures since the last key frame with squeezed timestamps. */
  catchUp(feed: Feed): void {
    const { gop } = feed
    const [first] = gop
    if (first === undefined) return
    const { timestamps } = GopBurst.whole(gop)
    const timestamp = timestampOf(first)
    const { shift } = this.#sender.timesOf(feed, timestamps.get(timestamp) ?? timestamp)
    for (const packet of gop) {
      const times = packet === first ? { shift, timestamps } : undefined
      this.#pacer.push({ packet, feed, sequence: sequenceOf(packet), times })
    }
  }

  /** Whether the next key frame is late. @param now milliseconds of a monotonic clock */
  lacksKeyFrame(now: number): boolean {
    return now - this.#keyAt > keyFrameEveryMs
  }

  /** Whether a packet belongs to a key frame. A key frame is skipped while much of the previous key frame is queued. */
  #isOfKeyFrame(feed: Feed, timestamp: number): boolean {
    if (timestamp !== feed.picture.entry.timestamp) return false
    if (timestamp === this.#keyTimestamp) return true
    if (this.waitMs > maxWaitMs) return false
    this.begin(feed, timestamp)
    return true
  }

  #send({ packet, feed, sequence, times }: WaitingPacket): void {
    if (times !== undefined) {
      this.#sender.begin(feed, sequence, times)
      this.#timestamps = times.timestamps
    }
    const copy = Buffer.from(packet)
    const timestamp = timestampOf(packet)
    copy.writeUInt32BE(this.#timestamps?.get(timestamp) ?? timestamp, 4)
    this.#sender.send(copy, sequence)
  }
}

interface Paced {
  packet: SharedPacket
}

/** Sends no faster than a given rate, for a link whose queue would overflow with a whole picture. */
export class Pacer<Item extends Paced> {
  readonly #lifetime: Lifetime
  readonly #send: (item: Item) => void
  #queue: Item[] = []
  #bytes = 0
  #allowance = 0
  #lookedAt = 0
  #looking = false
  #restUntil = -Infinity
  /** Bits per second. */
  rate: number

  constructor(lifetime: Lifetime, rate: number, send: (item: Item) => void) {
    this.#lifetime = lifetime
    this.#send = send
    this.rate = rate
  }

  get empty(): boolean {
    return this.#queue.length === 0
  }

  /** Time to send the whole queue, in milliseconds. */
  get waitMs(): number {
    return (this.#bytes * 8_000) / this.rate
  }

  push(item: Item): void {
    this.#queue.push(item)
    this.#bytes += item.packet.length
    if (!this.#looking) this.#look()
  }

  /**
   * Pauses sending for `ms` milliseconds. Earlier packets still fill the link's queue, and sound waits behind them or
   * is lost.
   */
  rest(ms: number): void {
    this.#restUntil = performance.now() + ms
  }

  clear(): void {
    this.#queue = []
    this.#bytes = 0
  }

  #look(): void {
    const now = performance.now()
    if (now < this.#restUntil) {
      this.#looking = true
      this.#lifetime.after(this.#restUntil - now, () => this.#look())
      return
    }
    const elapsed = Math.min(atOnceMs, now - this.#lookedAt)
    this.#lookedAt = now
    this.#allowance = Math.min(0, this.#allowance) + (elapsed * this.rate) / 8_000
    let sent = 0
    for (const item of this.#queue) {
      // A packet may exceed the allowance; the next interval makes up for it.
      if (this.#allowance <= 0) break
      this.#allowance -= item.packet.length
      this.#bytes -= item.packet.length
      sent += 1
      this.#send(item)
    }
    this.#queue.splice(0, sent)
    this.#looking = this.#queue.length > 0
    if (this.#looking) this.#lifetime.after(everyMs, () => this.#look())
  }
}
