import { type Content, nothing } from '../rtp/key-frame.ts'
import { hasMarker, isPadding, timestampOf } from '../rtp/packet.ts'
import { Rate } from '../rtp/rate.ts'
import { Renumbering } from '../rtp/renumber.ts'
import { EntryPoints } from './entry-points.ts'
import type { VideoFormat } from './feed-format.ts'
import { type SenderClock, StreamClock } from './stream-clock.ts'

/** Video of a feed on its way from the source: counted, timed and numbered without a break. */
export class FeedVideo {
  /** undefined: the source has no video. */
  readonly format: VideoFormat | undefined
  readonly clock: StreamClock
  readonly entry: EntryPoints
  readonly #numbers = new Renumbering()
  readonly #rate = new Rate()
  readonly #passOn: (packet: Buffer, content: Content) => void
  bytes = 0
  /** Pictures that ended. */
  frames = 0
  /** Arrival of the last packet, milliseconds since the epoch; 0 before the first. */
  lastPacketAt = 0
  /** Streams of the source so far that were joined to the first one. */
  restarts = 0

  /** @param passOn takes each packet with its number in the feed; the source may change the packet once this returns */
  constructor(
    format: VideoFormat | undefined,
    sender: SenderClock,
    passOn: (packet: Buffer, content: Content) => void,
  ) {
    this.format = format
    this.clock = new StreamClock(90_000, sender)
    this.entry = new EntryPoints(format)
    this.#passOn = passOn
  }

  /** Highest bitrate of the last seconds, since a key frame comes only now and then; 0 in the first second. */
  get bitrate(): number {
    return this.#rate.most
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
    if (content !== nothing) this.entry.note(packet, content, timestamp, now)
    if (this.#numbers.apply(packet)) this.#passOn(packet, content)
  }

  /** Joins a new stream of the source to the numbers so far. */
  restart(): void {
    this.#numbers.pause()
    this.restarts += 1
  }
}
