import type { Lifetime } from '../base/lifetime.ts'
import { headerExtension } from '../rtp/packet.ts'
import { estimatedBitrate } from '../rtp/rtcp.ts'
import { TransportFeedback } from '../rtp/transport-feedback.ts'
import { IncomingStream, type IncomingStreamOptions } from './incoming-streams.ts'

/** Minimum of the requested bit rate, in bits per second. */
const minBitrate = 150_000
/**
 * Shares of lost packets. Loss above `muchLost` lowers the bit rate; loss below `littleLost` counts as none
 * (draft-ietf-rmcat-gcc, section 6).
 */
const muchLost = 0.1
const littleLost = 0.02
/** Growth of the requested bit rate after a second with little loss. */
const growth = 1.08

/** Delay, in milliseconds, from a packet to the feedback with its arrival time, and to the check for losses. */
const feedbackAfterMs = 50
const lookAfterMs = 200
/** Minimum number of packets to judge the share of losses. */
const minPackets = 8

/** Totals over all streams since the beginning. */
interface Totals {
  expected: number
  received: number
  bytes: number
  at: number
}

const nothingYet: Readonly<Totals> = { expected: 0, received: 0, bytes: 0, at: 0 }

/**
 * Sends feedback about the transport to a publisher: a receiver report for each stream, and either arrival times or a
 * rate limit. A publisher estimates its uplink from the arrival times of its packets. The rate limit is derived from
 * losses.
 */
export class PublisherFeedback {
  readonly #lifetime: Lifetime
  readonly #maxBitrate: number
  readonly #estimate: BitrateEstimate
  readonly #transport = new TransportFeedback()
  readonly #streams: IncomingStream[] = []
  #due = false
  #bytes = 0
  #atLook: Readonly<Totals> = nothingYet
  #atReport: Readonly<Totals> = nothingYet
  /** Number of the header extension with transport-wide sequence numbers; 0: the browser gets no arrival times. */
  transportExtension = 0

  /** @param maxBitsPerSecond maximum rate limit sent to the browser */
  constructor(lifetime: Lifetime, maxBitsPerSecond: number) {
    this.#lifetime = lifetime
    this.#maxBitrate = maxBitsPerSecond
    this.#estimate = new BitrateEstimate(maxBitsPerSecond)
  }

  addStream(options: Omit<IncomingStreamOptions, 'lifetime'>): IncomingStream {
    const stream = new IncomingStream({ ...options, lifetime: this.#lifetime })
    this.#streams.push(stream)
    return stream
  }

  /** Counts an RTP packet, before any check of its content. */
  arrived(packet: Buffer): void {
    this.#bytes += packet.length
    if (this.transportExtension !== 0) {
      const number = headerExtension(packet, this.transportExtension)
      if (number?.length !== 2) return
      this.#transport.arrived(number.readUInt16BE(0), performance.now())
      if (this.#transport.full) this.#reportTransport()
    }
    if (this.#due) return
    this.#due = true
    this.#lifetime.after(this.transportExtension === 0 ? lookAfterMs : feedbackAfterMs, () => {
      this.#due = false
      if (this.transportExtension === 0) this.#look()
      else this.#reportTransport()
    })
  }

  /** Sends all reports. Called once a second. */
  report(now: number): void {
    for (const stream of this.#streams) stream.report(now)
    const totals = this.#totals()
    this.#estimate.second(lostOf(this.#atReport, totals))
    this.#atReport = totals
    this.#reportBitrate()
  }

  /** Checks for sudden heavy losses and reports them at once. */
  #look(): void {
    const totals = this.#totals()
    const before = this.#atLook
    if (totals.expected - before.expected < minPackets) return
    this.#atLook = totals
    const received = ((totals.bytes - before.bytes) * 8_000) / (totals.at - before.at)
    if (this.#estimate.lost(lostOf(before, totals), received)) this.#reportBitrate()
  }

  #totals(): Totals {
    let expected = 0
    let received = 0
    for (const { kind, counts } of this.#streams) {
      // Sound has so few packets that a burst of losses is a large share.
      if (kind === 'audio') continue
      expected += counts.expected
      received += counts.received
    }
    return { expected, received, bytes: this.#bytes, at: performance.now() }
  }

  /** Stream named in feedback about the transport: a browser accepts any stream that it sends. */
  get #named(): IncomingStream | undefined {
    return this.#streams.find(({ ssrc }) => ssrc !== 0)
  }

  #reportTransport(): void {
    const stream = this.#named
    for (const packet of this.#transport.take(stream?.ssrc ?? 0)) stream?.send(packet)
  }

  /** Sends the rate limit. A publisher that estimates its uplink itself gets the maximum bit rate. */
  #reportBitrate(): void {
    const stream = this.#named
    const bitrate = this.transportExtension === 0 ? this.#estimate.bitrate : this.#maxBitrate
    stream?.send(estimatedBitrate(stream.ssrc, bitrate))
  }
}

/** Returns the share of packets lost between two moments, 0 to 1. Late and repeated packets count when they arrive. */
function lostOf(from: Readonly<Totals>, to: Readonly<Totals>): number {
  const expected = to.expected - from.expected
  return expected <= 0 ? 0 : Math.max(0, 1 - (to.received - from.received) / expected)
}

/**
 * Computes a publisher's bit rate from its losses (draft-ietf-rmcat-gcc, section 6), for publishers that do not
 * estimate it themselves.
 */
export class BitrateEstimate {
  readonly #maxBitrate: number
  #now: number
  /**
   * Whether the rate dropped in this second. After a drop, the rate does not grow, because the link's queue has to
   * empty first.
   */
  #dropped = false

  constructor(maxBitrate: number) {
    this.#maxBitrate = maxBitrate
    this.#now = maxBitrate
  }

  /** Bits per second. */
  get bitrate(): number {
    return Math.round(this.#now)
  }

  /**
   * Lowers the bit rate below the received rate if many packets were lost. Returns whether it did.
   * @param share share of packets lost since the last check, 0 to 1
   * @param received bits per second received since the last check
   */
  lost(share: number, received: number): boolean {
    if (share <= muchLost) return false
    this.#become(Math.min(this.#now, received) * (1 - 0.5 * share))
    this.#dropped = true
    return true
  }

  /** Takes the share of packets lost in the last second, 0 to 1. */
  second(share: number): void {
    if (share < littleLost && !this.#dropped) this.#become(this.#now * growth)
    this.#dropped = false
  }

  #become(bitrate: number): void {
    this.#now = Math.min(this.#maxBitrate, Math.max(minBitrate, bitrate))
  }
}
