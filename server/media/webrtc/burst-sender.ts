import type { Feed } from '../feeds/feed.ts'
import type { Lifetime } from '../base/lifetime.ts'
import { sequenceOf } from '../rtp/packet.ts'
import { GopBurst } from './gop-burst.ts'
import type { VideoSender } from './video-sender.ts'

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
