import { withoutExtension } from '../rtp/header-extension.ts'
import { setMarker, timestampOf } from '../rtp/packet.ts'
import { Renumbering } from '../rtp/renumber.ts'
import type { AudioFormat } from './feed-format.ts'
import { type SenderClock, StreamClock } from './stream-clock.ts'

/** Sound of a feed on its way from the source: counted, timed, muted where a host wants it, and numbered without a break. */
export class FeedAudio {
  /** undefined: the source has no sound. */
  readonly format: AudioFormat | undefined
  readonly clock: StreamClock
  /** A host has muted it: packets are taken and not passed on. */
  muted = false
  /** Decides by the level of a packet, in -dBov, whether it is passed on; -1: it carries none. */
  passes: (level: number) => boolean = () => true
  readonly #numbers = new Renumbering()
  bytes = 0
  /** Arrival of the last packet, milliseconds since the epoch; 0 before the first. */
  lastPacketAt = 0

  constructor(format: AudioFormat | undefined, sender: SenderClock) {
    this.format = format
    this.clock = new StreamClock(format?.clockRate ?? 8_000, sender)
  }

  /**
   * Takes a packet of the source.
   * @param level that it carries, in -dBov; -1: none
   * @returns the packet to send, with its number in the feed; undefined: none
   */
  take(packet: Buffer, level: number): Buffer | undefined {
    const now = Date.now()
    this.bytes += packet.length
    this.lastPacketAt = now
    this.clock.received(timestampOf(packet), now)
    if (this.muted || !this.passes(level)) {
      this.restart()
      return undefined
    }
    const begins = this.#numbers.paused
    const plain = withoutExtension(packet)
    if (!this.#numbers.apply(plain)) return undefined
    // Sound after silence (RFC 3551, section 4.1).
    if (begins) setMarker(plain)
    return plain
  }

  /** Joins a new stream of the source, or what follows a pause, to the numbers so far. */
  restart(): void {
    this.#numbers.pause()
  }
}
