import { type ReceptionBlock, type ClockPoint } from './rtcp.ts'
import { sequenceDistance, sequenceOf, ssrcOf, timestampOf } from './packet.ts'

/** A gap wider than this is a new beginning rather than loss. */
const widestGap = 200
/**
 * Milliseconds from one request for a packet to the next, the last of which is waited for too: on a link with a long queue or way the answer takes longer than
 * on a short one, and to ask meanwhile would bring it twice.
 */
const requestWaitsMs = [40, 40, 80, 160, 320] as const

/** The reception statistics of one incoming stream: what was lost, what to ask for again, what to report. */
export class Reception {
  readonly #clockRate: number
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

  constructor(clockRate: number) {
    this.#clockRate = clockRate
  }

  /** Whether anything is to be asked for again. */
  get incomplete(): boolean {
    return this.#missing.size > 0
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
      return true
    }
    if (ahead > widestGap) this.#missing.clear()
    else for (let i = 1; i < ahead; i++) this.#missing.set((this.#highest + i) & 0xffff, { requests: 0, nextAt: 0 })
    if (sequence < this.#highest) this.#cycles += 0x10000
    this.#highest = sequence
    this.#received += 1
    this.#measureJitter(timestampOf(packet), now)
    return true
  }

  /** Notes a sender report, for the round trip that the sender works out. */
  reported({ middle }: ClockPoint, now: number): void {
    this.#report = { middle, at: now }
  }

  /** Sequence numbers to ask for now, and whether any was asked for in vain so often that it is given up. */
  toRequest(now: number): { sequences: number[]; givenUp: boolean } {
    const sequences: number[] = []
    let givenUp = false
    for (const [sequence, entry] of this.#missing) {
      if (now < entry.nextAt) continue
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
    return { sequences, givenUp }
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

  /** RFC 3550, appendix A.8. */
  #measureJitter(timestamp: number, now: number): void {
    const transit = (now * this.#clockRate) / 1000 - timestamp
    const difference = Math.abs(transit - this.#transit)
    this.#transit = transit
    if (difference < this.#clockRate) this.#jitter += (difference - this.#jitter) / 16
  }
}
