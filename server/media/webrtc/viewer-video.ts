import type { Feed } from '../feeds/feed.ts'
import type { Lifetime } from '../base/lifetime.ts'
import { sequenceOf, timestampOf } from '../rtp/packet.ts'
import { GopBurst } from './gop-burst.ts'
import type { LinkEstimate } from './link-estimate.ts'
import { Pacer } from './pacer.ts'
import type { StretchTimes } from './sent-video.ts'
import type { VideoSender } from './video-sender.ts'

/** Packets of the burst at once, and milliseconds between: more would overflow socket buffers. */
const sliceLength = 128
const sliceEveryMs = 2
/**
 * The first packets are lost where the browser is not ready for them yet, and it cannot ask for what it does not know of: what it asks for is a key frame, which
 * a camera does not send on demand. So the burst is sent again as if it were new: in the first moments, at most so often, and not sooner than so many milliseconds after it was sent.
 */
const burstRepeats = 3
const burstRepeatMs = 150
const burstRepeatsUntilMs = 3_000
/** The first pictures come all at once: what is heard of them says nothing of the link, for so many milliseconds. */
const startMs = 2_500
/** What came since the last key frame is sent first where that takes no longer than so many milliseconds. */
const maxCatchUpMs = 800
/** Of pictures that are sent slowly the next is left out while this much of one before waits, in milliseconds. */
const maxWaitMs = 1_000

/** Time for the queue of a link that was found too small to empty, in milliseconds: sound goes on meanwhile. */
const emptyQueueMs = 250

/** Key frames are asked for again and again where only those are sent, in milliseconds. */
const keyFrameEveryMs = 2_500

/** How a feed is sent over a link that is too small for it as it comes. */
export interface Limit {
  /** Bits a second. */
  rate: number
  /** Every other picture is left out. */
  keyFramesOnly: boolean
}

/** What is hidden and seen again more often begins again only so often, in milliseconds: each time costs all pictures since the last key frame. */
const showEveryMs = 500

/** What is sent from the next picture on that can be decoded by itself. */
interface Next {
  feed: Feed
  limit: Limit | undefined
  /** Timestamp of the one that is coming now, and may be partly over. */
  partly: number
}

/** A packet that waits for its turn. */
interface WaitingPacket {
  /** The feed's own, which nobody may change. */
  packet: Buffer
  feed: Feed
  sequence: number
  /** It begins a stretch. */
  times: StretchTimes | undefined
}

/** The video of one viewer: which packets of which feed it is sent. */
export class ViewerVideo {
  readonly #sender: VideoSender
  readonly #lifetime: Lifetime
  readonly #estimate: LinkEstimate
  readonly #pacer: Pacer<WaitingPacket>
  /** Whose packets are sent; undefined while nothing is. */
  #source: Feed | undefined
  /** Whose packets are sent as soon as it has a picture that can be decoded by itself. */
  #next: Next | undefined
  #limit: Limit | undefined
  /** The key frame that is sent, where other pictures are not, and when it came. */
  #keyTimestamp = -1
  #keyAt = 0
  /** Of the stretch that the next packet begins. */
  #times: StretchTimes | undefined
  /** Of pictures that were squeezed together, while they wait. */
  #timestamps: ReadonlyMap<number, number> | undefined
  #burst: GopBurst | undefined
  #repeatsLeft = burstRepeats
  #burstAt = 0
  #startedAt = 0
  /** What was asked for last; undefined: nothing. */
  #asked: Pick<Next, 'feed' | 'limit'> | undefined
  #hidden = false
  #shownAt = -Infinity
  #cancelShow: (() => void) | undefined

  /** Told whose packets are sent from now on. */
  adopted: (feed: Feed, limited: boolean) => void = () => {}

  /** @param estimate told of what is sent */
  constructor(sender: VideoSender, estimate: LinkEstimate, lifetime: Lifetime) {
    this.#sender = sender
    this.#estimate = estimate
    this.#lifetime = lifetime
    this.#pacer = new Pacer(lifetime, 0, (waiting) => this.#sendWaiting(waiting))
  }

  /** Nothing is sent until a picture comes that can be decoded by itself. */
  get waiting(): boolean {
    return this.#source === undefined && this.#burst === undefined
  }

  /** It is not seen: nothing is sent. */
  get hidden(): boolean {
    return this.#hidden
  }

  /** Whose packets are sent. */
  get source(): Feed | undefined {
    return this.#source
  }

  /** How far the pacing is behind, in milliseconds. */
  get waitMs(): number {
    return this.#pacer.waitMs
  }

  /** The pictures since the last key frame at once, then what comes. */
  start(feed: Feed, now: number): void {
    this.#startedAt = now
    this.#estimate.restart(now, startMs)
    if (feed.gop.length > 0 && !this.#hidden) this.#beginBurst(feed)
    else this.switchTo(feed)
  }

  /** It is not seen: nothing is sent until it is. */
  hide(): void {
    this.#cancelShow?.()
    this.#cancelShow = undefined
    this.#hidden = true
    this.#stop()
  }

  /** It is seen: what was asked for last begins at once. */
  show(now: number): void {
    if (!this.#hidden || this.#cancelShow !== undefined) return
    const wait = this.#shownAt + showEveryMs - now
    if (wait > 0) this.#cancelShow = this.#lifetime.after(wait, () => this.#begin(now + wait))
    else this.#begin(now)
  }

  /**
   * Sends this feed from its next picture on that can be decoded by itself, or the last one where little has come since; until then what was sent before goes
   * on. Without a limit: as it comes.
   */
  switchTo(feed: Feed, limit?: Limit): void {
    this.#asked = { feed, limit }
    if (this.#hidden) return
    this.#next = { feed, limit, partly: feed.picture.entry.timestamp }
    if (!this.#catchUp(this.#next)) feed.requestKeyFrame()
  }

  /** Another rate for what is sent within a limit. */
  set rate(rate: number) {
    this.#pacer.rate = rate
  }

  /** The link is full: nothing is sent until the next `switchTo`, and then only when its queue has had time to empty. */
  pause(): void {
    this.#asked = undefined
    this.#stop()
    this.rest()
  }

  /** More was sent than the link carries: its queue has time to empty, before more is sent within a limit. */
  rest(): void {
    this.#pacer.rest(emptyQueueMs)
  }

  #stop(): void {
    this.#source = undefined
    this.#next = undefined
    this.#burst = undefined
    this.#pacer.clear()
  }

  /** A packet of a feed. */
  take(feed: Feed, packet: Buffer, sequence: number): void {
    // The burst takes it from the GOP.
    if (this.#burst !== undefined) return
    if (feed === this.#next?.feed) {
      // What has come of its key frame may be kept already, and this packet with it.
      if (this.#catchUp(this.#next)) return
      this.#adopt(this.#next, packet, sequence)
    }
    if (feed !== this.#source) return
    if (this.#limit === undefined) return this.#sender.send(packet, sequence)
    if (this.#limit.keyFramesOnly && !this.#isOfKeyFrame(feed, packet)) return
    const kept = feed.sentVideo(sequence)
    if (kept === undefined) return
    this.#pacer.push({ packet: kept, feed, sequence, times: this.#times })
    this.#times = undefined
  }

  /** The viewer cannot go on without one. */
  requestKeyFrame(): void {
    const feed = this.#next?.feed ?? this.#source
    feed?.requestKeyFrame()
  }

  /** The viewer misses a packet: it is sent again, within bounds. What is left of a feed that it is not shown any more is of no use to it. */
  sendAgain(number: number, now: number): void {
    this.#sender.sendAgain(number, this.#source, now)
  }

  /** Sends what holds nothing, to see what the link carries. Returns its bytes; 0 when none may be sent now. */
  sendPadding(): number {
    return this.#hidden || this.#burst !== undefined ? 0 : this.#sender.sendPadding()
  }

  /** The viewer cannot go on: the first packets may have been lost. */
  repeatBurst(now: number): void {
    if (this.#hidden || this.#burst !== undefined || this.#repeatsLeft === 0) return
    if (now - this.#burstAt < burstRepeatMs || now - this.#startedAt > burstRepeatsUntilMs) return
    if (this.#source === undefined || this.#limit !== undefined || this.#source.gop.length === 0) return
    this.#repeatsLeft -= 1
    this.#beginBurst(this.#source)
  }

  /** The viewer is on another network, and has said nothing for so many milliseconds: what was sent to it meanwhile is lost. */
  moved(now: number, silentMs: number): void {
    this.#repeatsLeft = burstRepeats
    this.#startedAt = now
    this.#sender.moved()
    this.#estimate.queue.forget()
    this.#estimate.restart(now, startMs)
    if (silentMs > burstRepeatMs) this.repeatBurst(now)
  }

  /** Once a second. */
  tick(now: number): void {
    this.#sender.tick(now)
    if (now - this.#burstAt > burstRepeatsUntilMs) this.#sender.forgetTimestamps()
    // The request, or the source's answer, may have been lost.
    this.#next?.feed.requestKeyFrame()
    if (this.#limit?.keyFramesOnly && now - this.#keyAt > keyFrameEveryMs) this.#source?.requestKeyFrame()
  }

  /** Seen again: all pictures since the last key frame at once where there are any, else from the next key frame on. */
  #begin(now: number): void {
    this.#cancelShow = undefined
    this.#hidden = false
    this.#shownAt = now
    this.#estimate.restart(now, startMs)
    if (this.#asked === undefined) return
    const { feed, limit } = this.#asked
    if (limit !== undefined || feed.gop.length === 0) return this.switchTo(feed, limit)
    this.#become(feed, undefined)
    this.#beginBurst(feed)
  }

  /** Sends what came since the last key frame, its pictures close together, where that takes but a moment. */
  #catchUp({ feed, limit }: Next): boolean {
    const [first] = feed.gop
    if (first === undefined || limit === undefined || limit.keyFramesOnly) return false
    const bytes = feed.gop.reduce((sum, { length }) => sum + length, 0)
    if ((bytes * 8_000) / limit.rate > maxCatchUpMs) return false
    const { timestamps } = GopBurst.whole(feed.gop)
    const timestamp = timestampOf(first)
    const { shift } = this.#sender.timesOf(feed, timestamps.get(timestamp) ?? timestamp)
    this.#become(feed, limit)
    for (const packet of feed.gop) {
      const times = packet === first ? { shift, timestamps } : undefined
      this.#pacer.push({ packet, feed, sequence: sequenceOf(packet), times })
    }
    return true
  }

  #become(feed: Feed, limit: Limit | undefined): void {
    this.#next = undefined
    this.#source = feed
    this.#limit = limit
    this.#pacer.clear()
    if (limit !== undefined) this.#pacer.rate = limit.rate
    this.adopted(feed, limit !== undefined)
  }

  #adopt({ feed, limit, partly }: Next, packet: Buffer, sequence: number): void {
    const timestamp = timestampOf(packet)
    if (timestamp !== feed.picture.entry.timestamp || timestamp === partly) return
    this.#become(feed, limit)
    if (limit === undefined) {
      this.#sender.begin(feed, sequence, this.#sender.timesOf(feed, timestamp))
      return
    }
    this.#noteKeyFrame(feed, timestamp)
  }

  /** The packet that is queued next begins a stretch. */
  #noteKeyFrame(feed: Feed, timestamp: number): void {
    this.#keyTimestamp = timestamp
    this.#keyAt = performance.now()
    this.#times = this.#sender.timesOf(feed, timestamp)
  }

  /** Whether a packet is of a key frame; the next one is left out while much of one before waits. */
  #isOfKeyFrame(feed: Feed, packet: Buffer): boolean {
    const timestamp = timestampOf(packet)
    if (timestamp !== feed.picture.entry.timestamp) return false
    if (timestamp === this.#keyTimestamp) return true
    if (this.#pacer.waitMs > maxWaitMs) return false
    this.#noteKeyFrame(feed, timestamp)
    return true
  }

  #sendWaiting({ packet, feed, sequence, times }: WaitingPacket): void {
    if (times !== undefined) {
      this.#sender.begin(feed, sequence, times)
      this.#timestamps = times.timestamps
    }
    const copy = Buffer.from(packet)
    const timestamp = timestampOf(packet)
    copy.writeUInt32BE(this.#timestamps?.get(timestamp) ?? timestamp, 4)
    this.#sender.send(copy, sequence)
  }

  #beginBurst(feed: Feed): void {
    const { gop } = feed
    const [first] = gop
    if (first === undefined) return
    this.#asked = { feed, limit: undefined }
    this.#burst = new GopBurst(gop)
    const { begins, timestamps } = this.#burst
    this.#sender.begin(feed, sequenceOf(first), { ...this.#sender.timesOf(feed, begins), timestamps })
    this.#burstAt = performance.now()
    this.#sendBurst(feed, this.#burst)
  }

  #sendBurst(feed: Feed, burst: GopBurst): void {
    if (this.#burst !== burst) return
    const packets = burst.take(feed.gop, sliceLength)
    for (const packet of packets ?? []) this.#sender.send(packet, sequenceOf(packet))
    if (packets?.length === sliceLength) {
      this.#lifetime.after(sliceEveryMs, () => this.#sendBurst(feed, burst))
      return
    }
    this.#burst = undefined
    if (packets === undefined) this.switchTo(feed)
    else this.#source = feed
  }
}
