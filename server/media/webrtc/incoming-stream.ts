import type { Track } from 'node-datachannel'
import { traffic } from '../base/traffic.ts'
import type { Lifetime } from '../base/lifetime.ts'
import { Reception } from '../rtp/reception.ts'
import { type ClockPoint, negativeAcknowledgement, pictureLoss, receiverReport } from '../rtp/rtcp.ts'

/** Minimum interval of requests for key frames, in milliseconds. */
const keyFrameEveryMs = 300
/** Interval of checks for missing packets, in milliseconds. */
const repeatEveryMs = 20

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
