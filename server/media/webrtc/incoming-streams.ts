import type { Feed } from '../feeds/feed.ts'
import { headerExtension, ssrcOf } from '../rtp/packet.ts'
import type { IncomingStream } from './incoming-stream.ts'

/**
 * Silence of a stream, in milliseconds, after which another SSRC may replace the stream's SSRC. Packets of two SSRCs at
 * once would break the pictures.
 */
const takeOverMs = 500

/** One expected stream and the destination of its packets. */
export interface ExpectedStream {
  stream: IncomingStream
  feed: Feed
  payloadType: number
  /** RID in the stream's packets (RFC 8852); undefined: no other stream has this payload type. */
  rid: string | undefined
  /** Number of the header extension that carries the RID; 0: none. */
  ridExtension: number
  /** Takes a packet that is not a duplicate. */
  push(packet: Buffer): void
}

interface Slot extends ExpectedStream {
  /** SSRC of the stream; 0 before the first packet. */
  ssrc: number
  /** Whether the next packet is the first packet of a new SSRC. */
  restarted: boolean
  /** Arrival of the last packet, in milliseconds since the epoch. */
  receivedAt: number
}

/**
 * Separates the streams of one transport by SSRC. The first packets of an SSRC identify its stream (RFC 8843, section
 * 9.2).
 */
export class IncomingStreams {
  readonly #slots: Slot[] = []
  /** Slots by SSRC, at most one entry per slot. */
  readonly #bySsrc = new Map<number, Slot>()

  add(expected: ExpectedStream): void {
    this.#slots.push({ ...expected, ssrc: 0, restarted: false, receivedAt: 0 })
  }

  /** Returns the stream of an SSRC that has sent packets; undefined for any other SSRC. */
  find(ssrc: number): ExpectedStream | undefined {
    return this.#bySsrc.get(ssrc)
  }

  /** Takes an RTP packet; drops a packet of an unexpected stream. */
  received(packet: Buffer, now: number): void {
    const ssrc = ssrcOf(packet)
    const payloadType = (packet[1] ?? 0) & 0x7f
    const slot = this.#bySsrc.get(ssrc) ?? this.#associate(packet, ssrc, payloadType, now)
    if (slot?.payloadType !== payloadType) return
    slot.receivedAt = now
    if (!slot.stream.received(packet, now)) return
    if (slot.restarted) {
      slot.restarted = false
      slot.feed.restart(slot.stream.kind)
    }
    slot.push(packet)
  }

  #associate(packet: Buffer, ssrc: number, payloadType: number, now: number): Slot | undefined {
    const slot = this.#slots.find(
      (each) =>
        each.payloadType === payloadType &&
        (each.rid === undefined || each.rid === headerExtension(packet, each.ridExtension)?.toString('latin1')),
    )
    if (slot === undefined || now - slot.receivedAt < takeOverMs) return undefined
    slot.restarted = slot.ssrc !== 0
    this.#bySsrc.delete(slot.ssrc)
    slot.ssrc = ssrc
    this.#bySsrc.set(ssrc, slot)
    return slot
  }
}
