import type { Track } from 'node-datachannel'
import { traffic } from '../base/traffic.ts'
import { address } from '../rtp/packet.ts'
import type { ReceivedBlock } from '../rtp/feedback.ts'
import { referenceTimeAnswer, senderReport } from '../rtp/rtcp.ts'

/** Sender reports that may be on their way at a time. */
const maxReports = 16

/** How a stream is sent. */
export interface OutgoingOptions {
  kind: 'video' | 'audio'
  track: Track
  payloadType: number
  ssrc: number
  /** Called when the track is closed. */
  closed: () => void
}

/** One stream to a viewer: what is its own in each packet, and its reports. */
export class Outgoing {
  readonly kind: 'video' | 'audio'
  readonly track: Track
  readonly ssrc: number
  readonly #payloadType: number
  readonly #closed: () => void
  /** When the first packet since the receiver's last word was sent; 0: it owes none. */
  owedSince = 0
  #packets = 0
  #octets = 0
  /** When the last sender reports were sent, by the middle of their NTP time; those that were answered are left out. */
  readonly #reportedAt = new Map<number, number>()

  constructor({ kind, track, payloadType, ssrc, closed }: OutgoingOptions) {
    this.kind = kind
    this.track = track
    this.ssrc = ssrc
    this.#payloadType = payloadType
    this.#closed = closed
  }

  /** Whether anything was sent. */
  get begun(): boolean {
    return this.#packets > 0
  }

  /** Writes payload type and SSRC into the packet, and sends it. */
  send(packet: Buffer): void {
    address(packet, this.#payloadType, this.ssrc)
    this.#packets += 1
    this.#octets += packet.length - 12
    if (this.owedSince === 0) this.owedSince = Date.now()
    this.#sendAsIs(packet)
  }

  /** Sends a packet a second time: it counts once. */
  sendAgain(packet: Buffer): void {
    address(packet, this.#payloadType, this.ssrc)
    this.#sendAsIs(packet)
  }

  /** A report of so much as was sent, at a moment that is `clock` of the source. @param now milliseconds of a clock that never goes back */
  report(clock: { ntp: number; timestamp: number }, now: number): void {
    const report = senderReport(this.ssrc, clock.ntp, clock.timestamp, this.#packets, this.#octets)
    this.#reportedAt.set(report.readUInt32BE(10), now)
    if (this.#reportedAt.size > maxReports) {
      const [oldest = 0] = this.#reportedAt.keys()
      this.#reportedAt.delete(oldest)
    }
    this.#sendAsIs(report)
  }

  /** Answers a receiver's reference time, from which it works out the round trip: it asks again for a lost packet after so long. */
  answerReferenceTime(receiver: number, middle: number): void {
    this.#sendAsIs(referenceTimeAnswer(this.ssrc, receiver, middle))
  }

  /** Round trip in milliseconds from a receiver's answer to a report (RFC 3550, section 6.4.1); undefined for one that was used already. */
  roundTrip({ ssrc, lastReport, delay }: ReceivedBlock, now: number): number | undefined {
    const at = ssrc === this.ssrc ? this.#reportedAt.get(lastReport) : undefined
    if (at === undefined) return undefined
    this.#reportedAt.delete(lastReport)
    return Math.max(0, now - at - delay / 65.536)
  }

  /** Sends it without a change; it is copied. */
  #sendAsIs(packet: Buffer): void {
    traffic.sent += packet.length
    try {
      // It says false while the track is not open yet.
      this.track.sendMessageBinary(packet)
    } catch {
      // A track throws when it has closed.
      if (!this.track.isOpen() && this.track.isClosed()) this.#closed()
    }
  }
}
