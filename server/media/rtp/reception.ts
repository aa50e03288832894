import { type ReceptionBlock, type ClockPoint } from './rtcp.ts'
import { hasMarker, isPadding, sequenceDistance, sequenceOf, ssrcOf, timestampOf } from './packet.ts'
import { Jitter } from './jitter.ts'
import { ReceivedNumbers } from './received-numbers.ts'
import { ReceptionCounts } from './reception-counts.ts'

/** Gap above which a stream has restarted rather than lost packets. */
const widestGap = 200
/**
 * Waits after each request for a packet, the last one included, in milliseconds: on a long or full link the answer takes longer, and a second request would
 * bring it twice.
 */
const requestWaitsMs = [40, 40, 80, 160, 320] as const

/** Time without padding, in milliseconds, after which none is missing: a sender that probes its link sends much at a time. */
const paddingSeenMs = 2_000
/** Requests in vain after which a packet that may be padding counts as padding, which senders do not keep. */
const paddingRequests = 2

/** Missing packets, by what to do about them. */
export interface Missing {
  /** To request now. */
  sequences: number[]
  /** Any is given up after requests in vain. */
  givenUp: boolean
  /** No loss, and not requested any more: the sender probed its link with padding. */
  padding: number[]
}

/** Reception statistics of one incoming stream: losses, packets to request again, reports. */
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
  /** Packets that came after they were requested again. */
  recovered = 0

  /** @param beginsPicture whether a packet is the first of a picture; left out: not known */
  constructor(clockRate: number, beginsPicture: (packet: Buffer) => boolean = () => false) {
    this.#jitter = new Jitter(clockRate)
    this.#beginsPicture = beginsPicture
  }

  /** Whether anything is missing. */
  get incomplete(): boolean {
    return this.#missing.size > 0
  }

  /** Timestamp of the packet with the highest number. */
  get timestamp(): number {
    return this.#timestamp
  }

  /** Packets since the first one; those that were sent again count once. */
  get counts(): { expected: number; received: number } {
    const { expected, received } = this.#counts
    return { expected, received }
  }

  /** Counts a packet. Returns false for a duplicate, which must not be passed on. */
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

  /** Notes a sender report, for the round trip that the sender works out. */
  reported({ middle }: ClockPoint, now: number): void {
    this.#report = { middle, at: now }
  }

  /** Lists what to do now; a packet that is given up is listed once. */
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

  /** Makes the report block since the last one. */
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
