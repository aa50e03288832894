import { sequenceDistance, sequenceOf } from './packet.ts'

/** A source that jumps further than this began anew. */
const widestGap = 1_000

/**
 * Gives a source's packets one unbroken numbering: gaps (loss) stay gaps, so that viewers ask for what is missing; a source that begins anew, and packets
 * that are put in, do not show.
 */
export class Renumbering {
  #offset = 0
  #last = -1

  /** Number of the next packet that is put in by the node. Every later packet moves up by one. */
  insert(before: Buffer): number {
    const number = this.#number(sequenceOf(before))
    this.#offset += 1
    return number
  }

  /** Writes the packet's number into it. */
  apply(packet: Buffer): void {
    packet.writeUInt16BE(this.#number(sequenceOf(packet)), 2)
  }

  #number(sequence: number): number {
    const number = (sequence + this.#offset) & 0xffff
    const ahead = this.#last < 0 ? 1 : sequenceDistance(this.#last, number)
    if (Math.abs(ahead) > widestGap) {
      this.#offset = (this.#last + 1 - sequence) & 0xffff
      this.#last = (this.#last + 1) & 0xffff
      return this.#last
    }
    if (ahead > 0) this.#last = number
    return number
  }
}
