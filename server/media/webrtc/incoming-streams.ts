import type { Feed } from '../feeds/feed.ts'
import { headerExtension } from '../rtp/header-extension.ts'
import { ssrcOf } from '../rtp/packet.ts'
import type { IncomingStream } from './incoming-stream.ts'

/** A stream of another SSRC takes the place of one only where that has sent nothing for so long, in milliseconds: two at once would each break the other's. */
const takeOverMs = 500

/** One stream that is expected, and where its packets go. */
export interface ExpectedStream {
  stream: IncomingStream
  feed: Feed
  payloadType: number
  /** RID in its packets, if several streams have its payload type (RFC 8852); undefined if it is the only one. */
  rid: string | undefined
  /** Number of the header extension that does. */
  ridExtension: number
  /** Takes a packet that is no duplicate. */
  push(packet: Buffer): void
}

interface Slot extends ExpectedStream {
  /** 0 before its first packet. */
  ssrc: number
  /** It goes on under another SSRC with the packet that comes now. */
  restarted: boolean
  /** Arrival of its last packet, in milliseconds since the epoch. */
  receivedAt: number
}

/** The streams of one transport, told apart by SSRC: the first packets of an SSRC identify its stream (RFC 8843, section 9.2). */
export class IncomingStreams {
  readonly #slots: Slot[] = []
  /** As many as there are slots at most. */
  readonly #bySsrc = new Map<number, Slot>()

  add(expected: ExpectedStream): void {
    this.#slots.push({ ...expected, ssrc: 0, restarted: false, receivedAt: 0 })
  }

  /** Stream of an SSRC that has sent; undefined for every other. */
  find(ssrc: number): ExpectedStream | undefined {
    return this.#bySsrc.get(ssrc)
  }

  /** Takes an RTP packet; one that nobody expects is dropped. */
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
