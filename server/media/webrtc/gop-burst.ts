import type { Lifetime } from '../base/lifetime.ts'
import type { Feed } from '../feeds/feed.ts'
import { sequenceOf, type SharedPacket, timestampOf } from '../rtp/packet.ts'
import type { VideoSender } from './video-sender.ts'

/** Timestamp ticks between pictures of the burst, so few that the browser shows the last picture at once. */
const ticks = 90
/**
 * Packets per chunk, and interval of chunks in milliseconds. Larger or more frequent chunks overflow socket buffers.
 */
const chunkPackets = 128
const chunkEveryMs = 2
/**
 * Maximum number of repeats of a burst, their interval, and the time after the start within which they are sent, in
 * milliseconds. A browser that is not ready loses the first packets. The browser cannot detect this loss, so it
 * requests a key frame, which cameras do not send on demand.
 */
const maxRepeats = 3
const repeatEveryMs = 150
const repeatWithinMs = 3_000

const empty = Buffer.alloc(12)

/**
 * Supplies the pictures since the last key frame to a new viewer, in slices, while the GOP keeps growing. The
 * timestamps of these pictures are squeezed together and end at the live timestamp. Pictures that arrive during the
 * burst keep their timestamps.
 */
export class GopBurst {
  #gop: readonly SharedPacket[]
  #next = 0
  /** Timestamp of the last picture of the GOP at the start, and number of pictures to squeeze. */
  readonly #live: number
  readonly #pictures: number
  #picture = -1
  #previous = -1
  /** Changed timestamps: from the feed's timestamp to the sent timestamp. */
  readonly timestamps = new Map<number, number>()

  /** @param gop the feed's live array, which keeps growing; not empty */
  constructor(gop: readonly SharedPacket[]) {
    this.#gop = gop
    this.#live = timestampOf(gop[gop.length - 1] ?? empty)
    this.#pictures = new Set(gop.map(timestampOf)).size
  }

  /** Returns a burst whose packets are already taken. The caller uses its timestamps only. */
  static whole(gop: readonly SharedPacket[]): GopBurst {
    const burst = new GopBurst(gop)
    burst.take(gop, gop.length)
    return burst
  }

  /** Timestamp of the first picture of the burst. */
  get begins(): number {
    return (this.#live - (this.#pictures - 1) * ticks) >>> 0
  }

  /**
   * Returns copies of the next packets, in order.
   * @param gop the feed's current array; a different array from the last call means that a new GOP has begun
   * @returns fewer packets than `max` if the burst has caught up with the feed; undefined if the feed no longer keeps a
   *   GOP
   */
  take(gop: readonly SharedPacket[], max: number): Buffer[] | undefined {
    if (gop !== this.#gop) {
      if (gop.length === 0) return undefined
      this.#gop = gop
      this.#next = 0
      this.#picture = this.#pictures
    }
    const slice = gop.slice(this.#next, this.#next + max)
    this.#next += slice.length
    return slice.map((packet) => this.#squeezed(packet))
  }

  #squeezed(packet: SharedPacket): Buffer {
    const copy = Buffer.from(packet)
    const timestamp = timestampOf(packet)
    if (timestamp !== this.#previous) this.#picture += 1
    this.#previous = timestamp
    const behind = this.#pictures - 1 - this.#picture
    if (behind > 0) {
      const squeezed = (this.#live - behind * ticks) >>> 0
      this.timestamps.set(timestamp, squeezed)
      copy.writeUInt32BE(squeezed, 4)
    }
    return copy
  }
}

/**
 * Sends the pictures since the last key frame to one viewer, in chunks, and repeats them when the first packets may
 * have been lost.
 */
export class BurstSender {
  readonly #sender: VideoSender
  readonly #lifetime: Lifetime
  readonly #done: (feed: Feed, whole: boolean) => void
  #burst: GopBurst | undefined
  #sentAt = 0
  #startedAt = 0
  #repeatsLeft = maxRepeats

  /**
   * @param done called when a burst has caught up with its feed (`whole`), or when the feed no longer keeps the
   *   pictures (not `whole`)
   */
  constructor(sender: VideoSender, lifetime: Lifetime, done: (feed: Feed, whole: boolean) => void) {
    this.#sender = sender
    this.#lifetime = lifetime
    this.#done = done
  }

  get sending(): boolean {
    return this.#burst !== undefined
  }

  /**
   * Records the start of the viewer. The first packets after it may be lost.
   * @param now milliseconds of a monotonic clock
   */
  start(now: number): void {
    this.#startedAt = now
  }

  /**
   * Records that the viewer starts again on another network. Returns whether a silence of `silentMs` milliseconds
   * requires a repeat.
   */
  restart(now: number, silentMs: number): boolean {
    this.#repeatsLeft = maxRepeats
    this.#startedAt = now
    return silentMs > repeatEveryMs
  }

  /** Sends the pictures that a feed keeps. Does nothing if the feed keeps none. */
  send(feed: Feed): void {
    const [first] = feed.gop
    if (first === undefined) return
    const burst = new GopBurst(feed.gop)
    this.#burst = burst
    const { begins, timestamps } = burst
    this.#sender.begin(feed, sequenceOf(first), { ...this.#sender.timesOf(feed, begins), timestamps })
    this.#sentAt = performance.now()
    this.#sendChunk(feed, burst)
  }

  /** Stops a burst without calling `done`. */
  stop(): void {
    this.#burst = undefined
  }

  mayRepeat(now: number): boolean {
    if (this.sending || this.#repeatsLeft === 0) return false
    return now - this.#sentAt >= repeatEveryMs && now - this.#startedAt <= repeatWithinMs
  }

  repeat(feed: Feed): void {
    this.#repeatsLeft -= 1
    this.send(feed)
  }

  /** Discards the timestamps of bursts that are too old to be requested again. Called once a second. */
  tick(now: number): void {
    if (now - this.#sentAt > repeatWithinMs) this.#sender.forgetTimestamps()
  }

  #sendChunk(feed: Feed, burst: GopBurst): void {
    if (this.#burst !== burst) return
    const packets = burst.take(feed.gop, chunkPackets)
    for (const packet of packets ?? []) this.#sender.send(packet, sequenceOf(packet))
    if (packets?.length === chunkPackets) {
      this.#lifetime.after(chunkEveryMs, () => this.#sendChunk(feed, burst))
      return
    }
    this.#burst = undefined
    this.#done(feed, packets !== undefined)
  }
}
