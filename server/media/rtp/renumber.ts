import { sequenceDistance, sequenceOf } from './packet.ts'

/** Jump after which a source counts as restarted. */
const widestGap = 1_000

/**
 * Gives a source's packets one unbroken numbering: gaps (loss) stay gaps, so that viewers request what is missing; a restarted source, and packets that are inserted or left out,
 * do not show.
 */
export class Renumbering {
  #offset = 0
  #last = -1
  #paused = false
  /** Runs of the source's numbers that were left out of late, by the last of each, the latest last; and how far those before it are moved. */
  #leftOut: { sequence: number; offset: number }[] = []
  /** The first number after a pause; -1 when that is long ago. */
  #first = -1

  /** @param last number of the packet before the first one; left out: that has its own number */
  constructor(last = -1) {
    this.#last = last
    this.pause()
  }

  /** Whether packets are left out now. */
  get paused(): boolean {
    return this.#paused
  }

  /** From the packet that came now on, packets are left out: the next one that is numbered follows the last one that was. */
  pause(): void {
    this.#paused = this.#last >= 0
  }

  /** Number of the next packet that is put in by the node. Every later packet moves up by one. */
  insert(before: Buffer): number {
    const number = this.#number(sequenceOf(before))
    this.#offset += 1
    return number
  }

  /**
   * Leaves out a packet that came now, so that no number is missing. Returns false for a late one, whose place those that followed left free: it has to be
   * passed on.
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

  /** Writes the packet's number into it. Returns false for a late one of those that were left out: it has none. */
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

  /** Forgets left-out numbers that are too old for late packets. */
  #forgetLeftOut(sequence: number): void {
    const late = this.#leftOut.findIndex((left) => sequenceDistance(left.sequence, sequence) <= widestGap)
    this.#leftOut.splice(0, late < 0 ? this.#leftOut.length : late)
  }

  /** How far a packet is moved: a late one less far than those after what was left out. */
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
