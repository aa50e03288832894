import type { Track } from 'node-datachannel'
import type { Lifetime } from '../base/lifetime.ts'
import { traffic } from '../base/traffic.ts'
import type { Feed } from '../feeds/feed.ts'
import { headerExtension, ssrcOf } from '../rtp/packet.ts'
import { Reception } from '../rtp/reception.ts'
import { type ClockPoint, negativeAcknowledgement, pictureLoss, receiverReport } from '../rtp/rtcp.ts'

/** Minimum interval of requests for key frames, in milliseconds. */
const keyFrameEveryMs = 300
/** Interval of checks for missing packets, in milliseconds. */
const repeatEveryMs = 20

/**
 * Silence of a stream, in milliseconds, after which another SSRC may replace the stream's SSRC. Packets of two SSRCs at
 * once would break the pictures.
 */
const takeOverMs = 500

export interface IncomingStreamOptions {
  kind: 'video' | 'audio'
  /** Clock rate of the RTP timestamps, in Hz. */
  clockRate: number
  /** Returns whether a packet is the first of a picture. Omitted: the first packets are unknown. */
  beginsPicture?: (packet: Buffer) => boolean
  /** Track that sends RTCP back to the sender. */
  track: Track
  lifetime: Lifetime
}

/** One RTP stream (SSRC) of a publisher: counts its packets and sends feedback to its sender. */
export class IncomingStream {
  readonly kind: 'video' | 'audio'
  readonly #track: Track
  readonly #lifetime: Lifetime
  readonly #reception: Reception
  #repeating = false
  #keyFrameDue = false
  #keyFrameAskedAt = 0

  /**
   * Called for each lost padding packet that is no longer requested, with the packet's sequence number and a timestamp
   * for its replacement. No media is missing at this number. Assignable, because the handler needs the stream.
   */
  lostPadding: (sequence: number, timestamp: number) => void = () => {}

  constructor({ kind, clockRate, beginsPicture, track, lifetime }: IncomingStreamOptions) {
    this.kind = kind
    this.#track = track
    this.#lifetime = lifetime
    this.#reception = new Reception(clockRate, beginsPicture)
  }

  /** SSRC of the stream; 0 before its first packet. */
  get ssrc(): number {
    return this.#reception.ssrc
  }

  /** Numbers of expected and received packets since the first packet. */
  get counts(): { expected: number; received: number } {
    return this.#reception.counts
  }

  /**
   * Counts an RTP packet of the stream and requests missing packets of a picture. Returns false if the packet must be
   * dropped, because it is a duplicate or too late.
   * @param now milliseconds since the epoch
   */
  received(packet: Buffer, now: number): boolean {
    if (!this.#reception.received(packet, now)) return false
    if (this.kind === 'video' && this.#reception.incomplete && !this.#repeating) this.#repeatSoon()
    return true
  }

  reported(point: ClockPoint, now: number): void {
    this.#reception.reported(point, now)
  }

  /** Requests a key frame, at once or as soon as the minimum interval has passed. */
  requestKeyFrame(): void {
    const wait = this.#keyFrameAskedAt + keyFrameEveryMs - Date.now()
    if (wait > 0) {
      if (this.#keyFrameDue) return
      this.#keyFrameDue = true
      this.#lifetime.after(wait, () => {
        this.#keyFrameDue = false
        this.requestKeyFrame()
      })
      return
    }
    if (this.ssrc === 0) return
    this.#keyFrameAskedAt = Date.now()
    this.send(pictureLoss(this.ssrc))
  }

  /** Sends a receiver report if the stream has begun. */
  report(now: number): void {
    if (this.ssrc !== 0) this.send(receiverReport(this.#reception.block(now)))
  }

  send(packet: Buffer): void {
    try {
      if (!this.#track.isOpen()) return
      traffic.sent += packet.length
      this.#track.sendMessageBinary(packet)
    } catch {
      // The track closed meanwhile; the peer reports that.
    }
  }

  #repeatSoon(): void {
    this.#repeating = true
    this.#lifetime.after(repeatEveryMs, () => this.#repeat())
  }

  /** Requests missing packets until the stream is complete. */
  #repeat(): void {
    this.#repeating = false
    const { sequences, givenUp, padding } = this.#reception.toRequest(Date.now())
    if (sequences.length > 0) this.send(negativeAcknowledgement(this.ssrc, sequences))
    for (const sequence of padding) this.lostPadding(sequence, this.#reception.timestamp)
    // Decoding cannot continue without a key frame, and a viewer would take seconds to request one.
    if (givenUp) this.requestKeyFrame()
    if (this.#reception.incomplete) this.#repeatSoon()
  }
}

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
