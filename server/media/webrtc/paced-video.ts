import type { PacketLoan } from '../feeds/packet-loan.ts'
import type { Feed } from '../feeds/feed.ts'
import type { Lifetime } from '../base/lifetime.ts'
import { sequenceOf, timestampOf, type SharedPacket } from '../rtp/packet.ts'
import { GopBurst } from './gop-burst.ts'
import { Pacer } from './pacer.ts'
import type { StretchTimes } from './sent-video.ts'
import type { VideoSender } from './video-sender.ts'

/** Longest time, in milliseconds, in which the pictures since the last key frame are sent first. */
const maxCatchUpMs = 800
/** Delay of the pacing, in milliseconds, above which the next of slow pictures is left out. */
const maxWaitMs = 1_000
/** Time for the queue of a link that was found too small to empty, in milliseconds: sound goes on meanwhile. */
const emptyQueueMs = 250
/** Interval of requests for key frames where only those are sent, in milliseconds. */
const keyFrameEveryMs = 2_500

/** Limit within which a feed is sent over a link that is too small for it. */
export interface Limit {
  /** Bits a second. */
  rate: number
  /** All other pictures are left out. */
  keyFramesOnly: boolean
}

/** Packet that waits for its turn. */
interface WaitingPacket {
  /** Owned by the feed: nobody may change it. */
  packet: SharedPacket
  feed: Feed
  sequence: number
  /** Set on the first packet of a stretch. */
  times: StretchTimes | undefined
}

/** Video of a viewer that is sent no faster than its link carries. */
export class PacedVideo {
  readonly #sender: VideoSender
  readonly #pacer: Pacer<WaitingPacket>
  /** Key frame that is sent where other pictures are not, and when it came. */
  #keyTimestamp = -1
  #keyAt = 0
  /** Times of the stretch that the next packet begins. */
  #times: StretchTimes | undefined
  /** Timestamps of pictures that were squeezed together, while they are sent. */
  #timestamps: ReadonlyMap<number, number> | undefined

  constructor(sender: VideoSender, lifetime: Lifetime) {
    this.#sender = sender
    this.#pacer = new Pacer(lifetime, 0, (waiting) => this.#send(waiting))
  }

  /** Delay of what is pushed now, in milliseconds. */
  get waitMs(): number {
    return this.#pacer.waitMs
  }

  /** Bits a second. */
  set rate(rate: number) {
    this.#pacer.rate = rate
  }

  /** Sends nothing until the link's queue has had time to empty. */
  rest(): void {
    this.#pacer.rest(emptyQueueMs)
  }

  /** Drops what waits. */
  clear(): void {
    this.#pacer.clear()
  }

  /** Begins a stretch with a key frame, whose packets come next. */
  begin(feed: Feed, timestamp: number): void {
    this.#keyTimestamp = timestamp
    this.#keyAt = performance.now()
    this.#times = this.#sender.timesOf(feed, timestamp)
  }

  /** Sends a packet of the feed, or leaves it out where only key frames are sent, or it is not kept. */
  take(feed: Feed, { timestamp }: PacketLoan, sequence: number, keyFramesOnly: boolean): void {
    if (keyFramesOnly && !this.#isOfKeyFrame(feed, timestamp)) return
    const kept = feed.sentVideo(sequence)
    if (kept === undefined) return
    this.#pacer.push({ packet: kept, feed, sequence, times: this.#times })
    this.#times = undefined
  }

  /** Whether the pictures since the last key frame take but a moment. */
  mayCatchUp({ gop }: Feed, rate: number): boolean {
    if (gop.length === 0) return false
    const bytes = gop.reduce((sum, { length }) => sum + length, 0)
    return (bytes * 8_000) / rate <= maxCatchUpMs
  }

  /** Sends the pictures since the last key frame, close together in time. */
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

  /** Whether the next key frame is late. @param now milliseconds of a clock that never goes back */
  lacksKeyFrame(now: number): boolean {
    return now - this.#keyAt > keyFrameEveryMs
  }

  /** Whether a packet is of a key frame; the next one is left out while much of one before waits. */
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
