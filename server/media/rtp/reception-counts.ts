/** Packets of one stream, expected and received (RFC 3550, appendix A.3). */
export class ReceptionCounts {
  /** Highest sequence number; -1 before the first packet. */
  highest = -1
  #first = 0
  /** Numbers of the cycles before, each of 65,536. */
  #cycles = 0
  received = 0
  /** Counts at the last report. */
  #expectedBefore = 0
  #receivedBefore = 0

  /** Begins with the first packet of a stream. */
  begin(sequence: number): void {
    this.highest = sequence
    this.#first = sequence
    this.#cycles = 0
    this.received = 0
    this.#expectedBefore = 0
    this.#receivedBefore = 0
  }

  /** Counts a packet with a number above the highest, or the first one. */
  advance(sequence: number): void {
    if (sequence < this.highest) this.#cycles += 0x10000
    this.highest = sequence
    this.received += 1
  }

  /** Highest sequence number with its cycles. */
  get extendedHighest(): number {
    return this.#cycles + this.highest
  }

  /** Packets since the first one. */
  get expected(): number {
    return this.highest < 0 ? 0 : this.extendedHighest - this.#first + 1
  }

  /** Share lost since the last call, in 1/256. */
  fractionLost(): number {
    const { expected, received } = this
    const expectedSince = expected - this.#expectedBefore
    const lostSince = expectedSince - (received - this.#receivedBefore)
    this.#expectedBefore = expected
    this.#receivedBefore = received
    return expectedSince > 0 && lostSince > 0 ? Math.min(255, Math.floor((lostSince * 256) / expectedSince)) : 0
  }
}
