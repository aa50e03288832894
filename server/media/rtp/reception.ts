import { type ReceptionBlock, type ClockPoint } from './rtcp.ts'
import { hasMarker, isPadding, sequenceDistance, sequenceOf, ssrcOf, timestampOf } from './packet.ts'

/** Number of sequence numbers whose marks are kept. */
const remembered = 4_096
/** Maximum number of sequence numbers checked on either side of a missing packet. */
const furthest = 256
/** Marks of a received packet, as bits. */
const came = 1
const endsPicture = 2
const beginsPicture = 4
const padding = 8

/** Maximum gap in sequence numbers that counts as packet loss. A larger gap is a restart of the stream. */
const widestGap = 200
/**
 * Waits after each request for a packet, including the last request, in milliseconds. The waits grow, because an early
 * second request on a slow link would duplicate the answer.
 */
const requestWaitsMs = [40, 40, 80, 160, 320] as const

/**
 * Time after the last padding, in milliseconds, within which a missing packet may be padding. Senders that probe their
 * link send padding in bursts.
 */
const paddingSeenMs = 2_000
/**
 * Number of unanswered requests after which possible padding counts as padding. Senders do not retransmit padding.
 */
const paddingRequests = 2

export interface Missing {
  /** Sequence numbers of the packets to request now. */
  sequences: number[]
  /** Whether a packet stayed missing after its last request. */
  givenUp: boolean
  /** Sequence numbers that count as padding of a link probe: neither lost nor requested again. */
  padding: number[]
}

/** Reception of one incoming stream: losses, packets to request again, statistics for reports. */
export class Reception {
  readonly #beginsPicture: (packet: Buffer) => boolean
  readonly #numbers = new ReceivedNumbers()
  readonly #counts = new ReceptionCounts()
  readonly #jitter: Jitter
  #paddingAt = -Infinity
  #timestamp = 0
  readonly #missing = new Map<number, { requests: number; nextAt: number }>()
  ssrc = 0
  #report: { middle: number; at: number } | undefined
  /** Number of packets that arrived after they were requested again. */
  recovered = 0

  /** @param beginsPicture returns whether a packet is the first of a picture; omitted: unknown */
  constructor(clockRate: number, beginsPicture: (packet: Buffer) => boolean = () => false) {
    this.#jitter = new Jitter(clockRate)
    this.#beginsPicture = beginsPicture
  }

  get incomplete(): boolean {
    return this.#missing.size > 0
  }

  /** Timestamp of the packet with the highest number. */
  get timestamp(): number {
    return this.#timestamp
  }

  /** Number of expected and received packets since the first packet, without duplicates. */
  get counts(): { expected: number; received: number } {
    const { expected, received } = this.#counts
    return { expected, received }
  }

  /** Counts a packet. Returns false for a duplicate, which must be dropped. */
  received(packet: Buffer, now: number): boolean {
    const counts = this.#counts
    const sequence = sequenceOf(packet)
    const ssrc = ssrcOf(packet)
    if (ssrc !== this.ssrc || counts.highest < 0) this.#begin(ssrc, sequence)
    const ahead = sequenceDistance(counts.highest, sequence)
    if (ahead === 0 && counts.received > 0) return false
    if (ahead < 0) {
      if (!this.#missing.delete(sequence)) return false
      this.recovered += 1
      counts.received += 1
      this.#note(packet, sequence, now)
      return true
    }
    if (ahead > widestGap) this.#missing.clear()
    else for (let i = 1; i < ahead; i++) this.#miss((counts.highest + i) & 0xffff)
    counts.advance(sequence)
    this.#note(packet, sequence, now)
    this.#timestamp = timestampOf(packet)
    this.#jitter.note(this.#timestamp, now)
    return true
  }

  /** Records a sender report. The next report block then lets the sender compute the round trip. */
  reported({ middle }: ClockPoint, now: number): void {
    this.#report = { middle, at: now }
  }

  /** Returns the packets to request now. Stops requesting a packet after its last request. */
  toRequest(now: number): Missing {
    const sequences: number[] = []
    const padding: number[] = []
    let givenUp = false
    for (const [sequence, entry] of this.#missing) {
      if (now < entry.nextAt) continue
      if (entry.requests >= paddingRequests && this.#mayBePadding(sequence, now)) {
        this.#missing.delete(sequence)
        padding.push(sequence)
        continue
      }
      const wait = requestWaitsMs[entry.requests]
      if (wait === undefined) {
        this.#missing.delete(sequence)
        givenUp = true
        continue
      }
      entry.requests += 1
      entry.nextAt = now + wait
      sequences.push(sequence)
    }
    return { sequences, givenUp, padding }
  }

  /** Returns the report block for the time since the last block. */
  block(now: number): ReceptionBlock {
    const { expected, extendedHighest, received } = this.#counts
    return {
      ssrc: this.ssrc,
      fractionLost: this.#counts.fractionLost(),
      lost: Math.max(0, expected - received),
      highest: extendedHighest,
      jitter: Math.floor(this.#jitter.ticks),
      lastReport: this.#report?.middle ?? 0,
      delay: this.#report === undefined ? 0 : Math.floor((now - this.#report.at) * 65.536),
    }
  }

  #begin(ssrc: number, sequence: number): void {
    this.ssrc = ssrc
    this.#counts.begin(sequence)
    this.#missing.clear()
  }

  #mayBePadding(sequence: number, now: number): boolean {
    return now - this.#paddingAt < paddingSeenMs && this.#numbers.isBetweenPictures(sequence)
  }

  #miss(sequence: number): void {
    this.#numbers.clear(sequence)
    this.#missing.set(sequence, { requests: 0, nextAt: 0 })
  }

  #note(packet: Buffer, sequence: number, now: number): void {
    const padding = isPadding(packet)
    if (padding) this.#paddingAt = now
    this.#numbers.note(sequence, {
      endsPicture: hasMarker(packet),
      beginsPicture: !padding && this.#beginsPicture(packet),
      padding,
    })
  }
}

/** Interarrival jitter of one stream (RFC 3550, appendix A.8). */
class Jitter {
  readonly #clockRate: number
  #transit = 0
  /** Jitter in ticks of the stream's clock. */
  ticks = 0

  /** @param clockRate clock rate of the timestamps, in Hz */
  constructor(clockRate: number) {
    this.#clockRate = clockRate
  }

  /** @param now time of arrival, in milliseconds */
  note(timestamp: number, now: number): void {
    const transit = (now * this.#clockRate) / 1000 - timestamp
    const difference = Math.abs(transit - this.#transit)
    this.#transit = transit
    if (difference < this.#clockRate) this.ticks += (difference - this.ticks) / 16
  }
}

/** Properties of a received packet, from which the kind of a missing neighbor is inferred. */
interface ReceivedPacket {
  endsPicture: boolean
  beginsPicture: boolean
  padding: boolean
}

/** Marks of a stream's recent packets by sequence number, to infer whether a missing packet was padding. */
class ReceivedNumbers {
  readonly #came = new Uint8Array(remembered)

  note(sequence: number, packet: ReceivedPacket): void {
    this.#came[sequence % remembered] =
      came |
      (packet.endsPicture ? endsPicture : 0) |
      (packet.beginsPicture ? beginsPicture : 0) |
      (packet.padding ? padding : 0)
  }

  /** Clears the marks of a missing packet. */
  clear(sequence: number): void {
    this.#came[sequence % remembered] = 0
  }

  /**
   * Whether a missing packet lies between the end of one picture and the beginning of the next, or next to padding
   * between them. Such a packet cannot be part of a received picture.
   */
  isBetweenPictures(sequence: number): boolean {
    const before = this.#nearest(sequence, -1)
    const after = this.#nearest(sequence, 1)
    return (before & (endsPicture | padding)) !== 0 && (after & (beginsPicture | padding)) !== 0
  }

  /** Returns the marks of the nearest packet in one direction; 0: none within range. */
  #nearest(sequence: number, step: 1 | -1): number {
    for (let i = 1; i <= furthest; i++) {
      const found = this.#came[(sequence + i * step) & (remembered - 1)] ?? 0
      if (found !== 0) return found
    }
    return 0
  }
}

/** Counts the expected and received packets of one stream (RFC 3550, appendix A.3). */
export class ReceptionCounts {
  /** Highest sequence number; -1 before the first packet. */
  highest = -1
  #first = 0
  /** Total of completed sequence number cycles, a multiple of 65,536. */
  #cycles = 0
  received = 0
  /** Counts at the last call of `fractionLost`. */
  #expectedBefore = 0
  #receivedBefore = 0

  /** Starts counting at the first packet of a stream. */
  begin(sequence: number): void {
    this.highest = sequence
    this.#first = sequence
    this.#cycles = 0
    this.received = 0
    this.#expectedBefore = 0
    this.#receivedBefore = 0
  }

  /** Counts the first packet, or a packet with a number above the highest. */
  advance(sequence: number): void {
    if (sequence < this.highest) this.#cycles += 0x10000
    this.highest = sequence
    this.received += 1
  }

  get extendedHighest(): number {
    return this.#cycles + this.highest
  }

  get expected(): number {
    return this.highest < 0 ? 0 : this.extendedHighest - this.#first + 1
  }

  /** Returns the share of packets lost since the last call, in 1/256. */
  fractionLost(): number {
    const { expected, received } = this
    const expectedSince = expected - this.#expectedBefore
    const lostSince = expectedSince - (received - this.#receivedBefore)
    this.#expectedBefore = expected
    this.#receivedBefore = received
    return expectedSince > 0 && lostSince > 0 ? Math.min(255, Math.floor((lostSince * 256) / expectedSince)) : 0
  }
}
