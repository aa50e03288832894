import { type PacketContent, noContent } from '../rtp/key-frame.ts'
import { hasMarker, isPadding, timestampOf } from '../rtp/packet.ts'
import { Rate } from '../rtp/rate.ts'
import { Renumbering } from '../rtp/renumber.ts'
import { EntryPoints } from './entry-points.ts'
import type { VideoFormat } from './feed-format.ts'
import { type SenderClock, StreamClock } from './stream-clock.ts'

/** Video of a feed between source and sinks: counts packets, tracks time and numbers packets without gaps. */
export class FeedVideo {
  /** Format of the video; undefined: the source has no video. */
  readonly format: VideoFormat | undefined
  readonly clock: StreamClock
  readonly entry: EntryPoints
  readonly #numbers = new Renumbering()
  readonly #rate = new Rate()
  readonly #passOn: (packet: Buffer, content: PacketContent) => void
  bytes = 0
  /** Number of complete pictures. */
  frames = 0
  /** Arrival of the last packet, in milliseconds since the epoch; 0 before the first. */
  lastPacketAt = 0
  /** Number of restarts of the source's stream. */
  restarts = 0

  /**
   * @param passOn takes each packet after its number in the feed was written into it; the source may change the packet
   *   after the call
   */
  constructor(
    format: VideoFormat | undefined,
    sender: SenderClock,
    passOn: (packet: Buffer, content: PacketContent) => void,
  ) {
    this.format = format
    this.clock = new StreamClock(90_000, sender)
    this.entry = new EntryPoints(format)
    this.#passOn = passOn
  }

  /** Highest bitrate of the last seconds, because key frames are rare; 0 in the first second. */
  get bitrate(): number {
    return this.#rate.peak
  }

  /** Takes a packet of the source, and writes its number in the feed into it. */
  take(packet: Buffer): void {
    if (isPadding(packet) && this.#numbers.leaveOut(packet)) return
    const now = Date.now()
    this.bytes += packet.length
    this.lastPacketAt = now
    this.#rate.add(packet.length, now)
    const timestamp = timestampOf(packet)
    if (hasMarker(packet)) this.frames += 1
    this.clock.received(timestamp, now)
    const content = this.entry.contentOf(packet)
    if (content !== noContent) this.entry.note(packet, content, timestamp, now)
    if (this.#numbers.apply(packet)) this.#passOn(packet, content)
  }

  /** Continues the numbering with a new stream of the source. */
  restart(): void {
    this.#numbers.pause()
    this.restarts += 1
  }
}
