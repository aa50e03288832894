import type { Track } from 'node-datachannel'
import { traffic } from '../base/traffic.ts'
import type { Lifetime } from '../base/lifetime.ts'
import { Reception } from '../rtp/reception.ts'
import { type ClockPoint, negativeAcknowledgement, pictureLoss, receiverReport } from '../rtp/rtcp.ts'

/** At most one request for a key frame in so many milliseconds. */
const keyFrameEveryMs = 300
/** Milliseconds from one look at what is missing to the next. */
const repeatEveryMs = 20

/** How a stream is received. */
export interface IncomingStreamOptions {
  kind: 'video' | 'audio'
  /** Clock rate of its timestamps, in Hz. */
  clockRate: number
  /** Whether a packet is the first of a picture; left out: not known. */
  beginsPicture?: (packet: Buffer) => boolean
  /** It takes RTCP back to the sender. */
  track: Track
  lifetime: Lifetime
}

/** One RTP stream (SSRC) of a publisher: its reception, and the feedback on it to its sender. */
export class IncomingStream {
  readonly kind: 'video' | 'audio'
  readonly #track: Track
  readonly #lifetime: Lifetime
  readonly #reception: Reception
  #repeating = false
  #keyFrameDue = false
  #keyFrameAskedAt = 0

  /** Called for each packet of padding that was lost for good, with its number and a timestamp for its replacement: nothing is missing there. */
  lostPadding: (sequence: number, timestamp: number) => void = () => {}

  constructor({ kind, clockRate, beginsPicture, track, lifetime }: IncomingStreamOptions) {
    this.kind = kind
    this.#track = track
    this.#lifetime = lifetime
    this.#reception = new Reception(clockRate, beginsPicture)
  }

  /** 0 before its first packet. */
  get ssrc(): number {
    return this.#reception.ssrc
  }

  /** Packets since its first one. */
  get counts(): { expected: number; received: number } {
    return this.#reception.counts
  }

  /**
   * Counts an RTP packet of it, and asks for what is missing of a picture. Returns false for one that must not be passed on: a duplicate, or too late.
   * @param now milliseconds since the epoch
   */
  received(packet: Buffer, now: number): boolean {
    if (!this.#reception.received(packet, now)) return false
    if (this.kind === 'video' && this.#reception.incomplete && !this.#repeating) this.#repeatSoon()
    return true
  }

  /** Its sender reported. */
  reported(point: ClockPoint, now: number): void {
    this.#reception.reported(point, now)
  }

  /** Asks for a key frame, at once or as soon as one may be asked for again. */
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

  /** Sends a receiver report, once there is something to tell. */
  report(now: number): void {
    if (this.ssrc !== 0) this.send(receiverReport(this.#reception.block(now)))
  }

  /** Sends RTCP to its sender. */
  send(packet: Buffer): void {
    try {
      if (!this.#track.isOpen()) return
      traffic.sent += packet.length
      this.#track.sendMessageBinary(packet)
    } catch {
      // It closed meanwhile; the peer reports that.
    }
  }

  #repeatSoon(): void {
    this.#repeating = true
    this.#lifetime.after(repeatEveryMs, () => this.#repeat())
  }

  /** Asks again for what is missing, until nothing is. */
  #repeat(): void {
    this.#repeating = false
    const { sequences, givenUp, padding } = this.#reception.toRequest(Date.now())
    if (sequences.length > 0) this.send(negativeAcknowledgement(this.ssrc, sequences))
    for (const sequence of padding) this.lostPadding(sequence, this.#reception.timestamp)
    // Decoding cannot go on without it, and a viewer would take seconds to request a key frame.
    if (givenUp) this.requestKeyFrame()
    if (this.#reception.incomplete) this.#repeatSoon()
  }
}
