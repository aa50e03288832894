import { type ReceptionBlock, type ClockPoint } from './rtcp.ts'
import { hasMarker, isPadding, sequenceDistance, sequenceOf, ssrcOf, timestampOf } from './packet.ts'
import { ReceivedNumbers } from './received-numbers.ts'

/** A gap wider than this is a new beginning rather than loss. */
const widestGap = 200
/**
 * Milliseconds from one request for a packet to the next, the last of which is waited for too: on a link with a long queue or way the answer takes longer than
 * on a short one, and to ask meanwhile would bring it twice.
 */
const requestWaitsMs = [40, 40, 80, 160, 320] as const

/** A sender that tries its link sends much padding at a time: where none came for so long, in milliseconds, none is missing. */
const paddingSeenMs = 2_000
/** It does not keep padding: what may be some, and was asked for so often in vain, is. */
const paddingRequests = 2

/** What is to be done about missing packets. */
export interface Missing {
  /** To ask for now. */
  sequences: number[]
  /** Any was asked for in vain so often that it is given up. */
  givenUp: boolean
  /** No loss, and not asked for any more: the sender tried its link with padding. */
  padding: number[]
}

/** The reception statistics of one incoming stream: what was lost, what to ask for again, what to report. */
export class Reception {
  readonly #clockRate: number
  readonly #beginsPicture: (packet: Buffer) => boolean
  readonly #numbers = new ReceivedNumbers()
  #paddingAt = -Infinity
  #timestamp = 0
  readonly #missing = new Map<number, { requests: number; nextAt: number }>()
  ssrc = 0
  #highest = -1
  #first = 0
  #cycles = 0
  #received = 0
  #expectedBefore = 0
  #receivedBefore = 0
  #jitter = 0
  #transit = 0
  #report: { middle: number; at: number } | undefined
  /** Packets that came after they were asked for again. */
  recovered = 0

  /** @param beginsPicture whether a packet is the first of a picture; left out: not known */
  constructor(clockRate: number, beginsPicture: (packet: Buffer) => boolean = () => false) {
    this.#clockRate = clockRate
    this.#beginsPicture = beginsPicture
  }

  /** Whether anything is to be asked for again. */
  get incomplete(): boolean {
    return this.#missing.size > 0
  }

  /** Of the packet with the highest number so far. */
  get timestamp(): number {
    return this.#timestamp
  }

  /** Packets since its first one, those that were sent again counted once. */
  get counts(): { expected: number; received: number } {
    const expected = this.#highest < 0 ? 0 : this.#cycles + this.#highest - this.#first + 1
    return { expected, received: this.#received }
  }

  /** Counts a packet. Returns false for a duplicate, which must not be passed on. */
  received(packet: Buffer, now: number): boolean {
    const sequence = sequenceOf(packet)
    const ssrc = ssrcOf(packet)
    if (ssrc !== this.ssrc || this.#highest < 0) this.#begin(ssrc, sequence)
    const ahead = sequenceDistance(this.#highest, sequence)
    if (ahead === 0 && this.#received > 0) return false
    if (ahead < 0) {
      if (!this.#missing.delete(sequence)) return false
      this.recovered += 1
      this.#received += 1
      this.#note(packet, sequence, now)
      return true
    }
    if (ahead > widestGap) this.#missing.clear()
    else for (let i = 1; i < ahead; i++) this.#miss((this.#highest + i) & 0xffff)
    if (sequence < this.#highest) this.#cycles += 0x10000
    this.#highest = sequence
    this.#received += 1
    this.#note(packet, sequence, now)
    this.#timestamp = timestampOf(packet)
    this.#measureJitter(this.#timestamp, now)
    return true
  }

  /** Notes a sender report, for the round trip that the sender works out. */
  reported({ middle }: ClockPoint, now: number): void {
    this.#report = { middle, at: now }
  }

  /** What is to be done now; what was asked for in vain so often is told once. */
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

  /** The report since the last one. */
  block(now: number): ReceptionBlock {
    const highest = this.#cycles + this.#highest
    const { expected } = this.counts
    const expectedSince = expected - this.#expectedBefore
    const lostSince = expectedSince - (this.#received - this.#receivedBefore)
    this.#expectedBefore = expected
    this.#receivedBefore = this.#received
    return {
      ssrc: this.ssrc,
      fractionLost:
        expectedSince > 0 && lostSince > 0 ? Math.min(255, Math.floor((lostSince * 256) / expectedSince)) : 0,
      lost: Math.max(0, expected - this.#received),
      highest,
      jitter: Math.floor(this.#jitter),
      lastReport: this.#report?.middle ?? 0,
      delay: this.#report === undefined ? 0 : Math.floor((now - this.#report.at) * 65.536),
    }
  }

  #begin(ssrc: number, sequence: number): void {
    this.ssrc = ssrc
    this.#highest = sequence
    this.#first = sequence
    this.#cycles = 0
    this.#received = 0
    this.#expectedBefore = 0
    this.#receivedBefore = 0
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

  /** RFC 3550, appendix A.8. */
  #measureJitter(timestamp: number, now: number): void {
    const transit = (now * this.#clockRate) / 1000 - timestamp
    const difference = Math.abs(transit - this.#transit)
    this.#transit = transit
    if (difference < this.#clockRate) this.#jitter += (difference - this.#jitter) / 16
  }
}
