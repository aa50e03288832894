import type { Track } from 'node-datachannel'
import { traffic } from '../base/traffic.ts'
import { address } from '../rtp/packet.ts'
import { type ReceivedBlock, referenceTimeAnswer, senderReport } from '../rtp/rtcp.ts'

/** Maximum number of sender reports without an answer that are kept. */
const maxReports = 16

export interface OutgoingOptions {
  kind: 'video' | 'audio'
  track: Track
  payloadType: number
  ssrc: number
  closed: () => void
}

/** One stream to a viewer: writes its identifiers into packets and handles its reports. */
export class Outgoing {
  readonly kind: 'video' | 'audio'
  readonly track: Track
  readonly ssrc: number
  readonly #payloadType: number
  readonly #closed: () => void
  /**
   * Send time of the first packet since the receiver's last report, in milliseconds since the epoch; 0: no report is
   * due.
   */
  owedSince = 0
  #packets = 0
  #octets = 0
  /** Send times of the last unanswered sender reports, by the middle 32 bits of their NTP time. */
  readonly #reportedAt = new Map<number, number>()

  constructor({ kind, track, payloadType, ssrc, closed }: OutgoingOptions) {
    this.kind = kind
    this.track = track
    this.ssrc = ssrc
    this.#payloadType = payloadType
    this.#closed = closed
  }

  get begun(): boolean {
    return this.#packets > 0
  }

  /** Writes payload type and SSRC into the packet and sends it. */
  send(packet: Buffer): void {
    address(packet, this.#payloadType, this.ssrc)
    this.#packets += 1
    this.#octets += packet.length - 12
    if (this.owedSince === 0) this.owedSince = Date.now()
    this.#sendAsIs(packet)
  }

  /** Sends a packet again without counting it again. */
  sendAgain(packet: Buffer): void {
    address(packet, this.#payloadType, this.ssrc)
    this.#sendAsIs(packet)
  }

  /**
   * Sends a report of the packets sent so far.
   * @param clock the moment of the report on the source's clock
   * @param now milliseconds of a monotonic clock
   */
  report(clock: { ntp: number; timestamp: number }, now: number): void {
    const report = senderReport(this.ssrc, clock.ntp, clock.timestamp, this.#packets, this.#octets)
    this.#reportedAt.set(report.readUInt32BE(10), now)
    if (this.#reportedAt.size > maxReports) {
      const [oldest = 0] = this.#reportedAt.keys()
      this.#reportedAt.delete(oldest)
    }
    this.#sendAsIs(report)
  }

  /**
   * Answers a receiver's reference time. The receiver computes the round trip from the answer and uses it as its
   * interval for requesting lost packets.
   */
  answerReferenceTime(receiver: number, middle: number): void {
    this.#sendAsIs(referenceTimeAnswer(this.ssrc, receiver, middle))
  }

  /**
   * Returns the round trip in milliseconds from a receiver's answer to a report (RFC 3550, section 6.4.1); undefined if
   * that report was answered before or is unknown.
   */
  roundTrip({ ssrc, lastReport, delay }: ReceivedBlock, now: number): number | undefined {
    const at = ssrc === this.ssrc ? this.#reportedAt.get(lastReport) : undefined
    if (at === undefined) return undefined
    this.#reportedAt.delete(lastReport)
    return Math.max(0, now - at - delay / 65.536)
  }

  /** Sends a packet unchanged; the library copies it. */
  #sendAsIs(packet: Buffer): void {
    traffic.sent += packet.length
    try {
      // Returns false while the track is not open yet.
      this.track.sendMessageBinary(packet)
    } catch {
      // A closed track throws.
      if (!this.track.isOpen() && this.track.isClosed()) this.#closed()
    }
  }
}
