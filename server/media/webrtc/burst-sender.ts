import type { Feed } from '../feeds/feed.ts'
import type { Lifetime } from '../base/lifetime.ts'
import { sequenceOf } from '../rtp/packet.ts'
import { GopBurst } from './gop-burst.ts'
import type { VideoSender } from './video-sender.ts'

/** Packets at once, and milliseconds between: more would overflow socket buffers. */
const chunkPackets = 128
const chunkEveryMs = 2
/**
 * Repeats of a burst as if it were new, at most; milliseconds between; and milliseconds from the start in which they are sent. A browser that is not ready
 * loses the first packets, cannot ask for packets that it does not know of, and requests a key frame, which cameras do not send on demand.
 */
const maxRepeats = 3
const repeatEveryMs = 150
const repeatWithinMs = 3_000

/** Sends one viewer the pictures since the last key frame, in chunks, and again where the first packets may be lost. */
export class BurstSender {
  readonly #sender: VideoSender
  readonly #lifetime: Lifetime
  readonly #done: (feed: Feed, whole: boolean) => void
  #burst: GopBurst | undefined
  #sentAt = 0
  #startedAt = 0
  #repeatsLeft = maxRepeats

  /** @param done called once a burst has caught up with its feed, or (not whole) the feed has lost its pictures */
  constructor(sender: VideoSender, lifetime: Lifetime, done: (feed: Feed, whole: boolean) => void) {
    this.#sender = sender
    this.#lifetime = lifetime
    this.#done = done
  }

  /** Whether a burst is being sent. */
  get sending(): boolean {
    return this.#burst !== undefined
  }

  /** Notes that the viewer starts now: the first packets may be lost. @param now milliseconds of a clock that never goes back */
  start(now: number): void {
    this.#startedAt = now
  }

  /** Notes that the viewer starts again on another network. Returns whether a silence of so many milliseconds calls for a repeat. */
  restart(now: number, silentMs: number): boolean {
    this.#repeatsLeft = maxRepeats
    this.#startedAt = now
    return silentMs > repeatEveryMs
  }

  /** Sends a feed's pictures; no effect where it keeps none. */
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

  /** Ends a burst; `done` is not called. */
  stop(): void {
    this.#burst = undefined
  }

  mayRepeat(now: number): boolean {
    if (this.sending || this.#repeatsLeft === 0) return false
    return now - this.#sentAt >= repeatEveryMs && now - this.#startedAt <= repeatWithinMs
  }

  /** Sends a feed's pictures again. */
  repeat(feed: Feed): void {
    this.#repeatsLeft -= 1
    this.send(feed)
  }

  /** Forgets the times of bursts that are too old to be requested again, once a second. */
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
