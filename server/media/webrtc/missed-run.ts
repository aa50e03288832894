import { sequenceDistance } from '../rtp/packet.ts'

/** Packets missed of one stretch that are more than bad luck, and the share of the stretch that they must be. */
const minLong = 16
const minShare = 0.25
/** Packets between two misses that end a run. */
const endsRun = 32

/** Packets that a viewer misses with little between them. */
export class MissedRun {
  /** Highest number so far; -1 before the first. */
  #highest = -1
  #missed = 0
  /** Numbers that the run reaches over. */
  #numbers = 0

  /** Notes a missed packet by its number. Returns false for one that was requested before. */
  note(number: number): boolean {
    const ahead = this.#highest < 0 ? Infinity : sequenceDistance(this.#highest, number)
    if (ahead <= 0) return false
    const begins = ahead > endsRun
    if (begins) this.restart()
    this.#missed += 1
    this.#numbers += begins ? 1 : ahead
    this.#highest = number
    return true
  }

  /** Whether so much of a stretch is missed that the rest of the last moments need not be waited for. */
  get isLong(): boolean {
    return this.#missed >= minLong && this.#missed >= minShare * this.#numbers
  }

  /** Ends the run; numbers that were missed before still do not count again. */
  restart(): void {
    this.#missed = 0
    this.#numbers = 0
  }
}
