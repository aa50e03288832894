import { sequenceDistance, sequenceOf } from './packet.ts'

/** Jump in sequence numbers above which a source has restarted. */
const widestGap = 1_000

/**
 * Gives a source's packets continuous numbers. Gaps from losses remain, so that viewers request the missing packets.
 * Restarts of the source, and inserted or dropped packets, leave no gap.
 */
export class Renumbering {
  #offset = 0
  #last = -1
  #paused = false
  /**
   * Recently dropped runs of source numbers, oldest first: `sequence` is the last number of a run, `offset` the offset
   * of the numbers before the run.
   */
  #leftOut: { sequence: number; offset: number }[] = []
  /** First number after a pause; -1: no pause, or a pause too long ago for late packets. */
  #first = -1

  /** @param last number before the first packet; omitted: the first packet keeps its number */
  constructor(last = -1) {
    this.#last = last
    this.pause()
  }

  get paused(): boolean {
    return this.#paused
  }

  /** Starts a pause in which packets are dropped. The first packet after the pause continues the numbers. */
  pause(): void {
    this.#paused = this.#last >= 0
  }

  /** Returns the number for a packet that the node inserts before another packet. All later numbers grow by one. */
  insert(before: Buffer): number {
    const number = this.#number(sequenceOf(before))
    this.#offset += 1
    return number
  }

  /**
   * Closes the gap of a packet that the caller drops. Returns false for a late packet, which must be sent, because its
   * number was left free.
   */
  leaveOut(packet: Buffer): boolean {
    if (this.#paused || this.#last < 0) return true
    const sequence = sequenceOf(packet)
    const ahead = sequenceDistance(this.#last, (sequence + this.#offset) & 0xffff)
    if (ahead <= 0 || ahead > widestGap) return false
    const before = this.#leftOut.at(-1)
    if (before !== undefined && sequenceDistance(before.sequence, sequence) === 1) before.sequence = sequence
    else this.#leftOut.push({ sequence, offset: this.#offset })
    this.#forgetLeftOut(sequence)
    this.#last = (this.#last + ahead - 1) & 0xffff
    this.#offset -= 1
    return true
  }

  /** Writes the continuous number into a packet. Returns false for a late packet from a pause, which has no number. */
  apply(packet: Buffer): boolean {
    const sequence = sequenceOf(packet)
    if (this.#paused) this.#resume(sequence)
    const number = this.#number(sequence)
    if (this.#first >= 0) {
      const since = sequenceDistance(this.#first, number)
      if (since < 0) return false
      if (since > widestGap) this.#first = -1
    }
    packet.writeUInt16BE(number, 2)
    return true
  }

  #resume(sequence: number): void {
    this.#paused = false
    this.#first = (this.#last + 1) & 0xffff
    this.#offset = (this.#first - sequence) & 0xffff
    this.#leftOut = []
  }

  #number(sequence: number): number {
    const number = (sequence + this.#offsetOf(sequence)) & 0xffff
    const ahead = this.#last < 0 ? 1 : sequenceDistance(this.#last, number)
    if (Math.abs(ahead) > widestGap) {
      this.#offset = (this.#last + 1 - sequence) & 0xffff
      this.#leftOut = []
      this.#last = (this.#last + 1) & 0xffff
      return this.#last
    }
    if (ahead > 0) this.#last = number
    if (this.#leftOut.length > 0) this.#forgetLeftOut(sequence)
    return number
  }

  /** Removes runs that are too old for late packets. */
  #forgetLeftOut(sequence: number): void {
    const late = this.#leftOut.findIndex((left) => sequenceDistance(left.sequence, sequence) <= widestGap)
    this.#leftOut.splice(0, late < 0 ? this.#leftOut.length : late)
  }

  /** Returns the offset of a packet. A late packet from before a dropped run has the offset before that run. */
  #offsetOf(sequence: number): number {
    let offset = this.#offset
    for (let i = this.#leftOut.length - 1; i >= 0; i--) {
      const left = this.#leftOut[i]
      if (left === undefined || sequenceDistance(left.sequence, sequence) > 0) break
      offset = left.offset
    }
    return offset
  }
}
