import { type Backoff, backoffMs } from '../../../../shared/backoff.ts'

/** Losses are remembered for so long, in milliseconds. */
const memoryMs = 10 * 60_000
/** How long a node that is back does not count as steady, by how often it was lost. */
const unsteadyBackoff: Backoff = { first: 10_000, max: 5 * 60_000 }
/** More make no difference. */
const maxLosses = 10

/**
 * Whether a node stays, once it is there. One that was lost and came back is empty, and would be given all new rooms; if it is lost again, so are these. So it is steady only
 * after a while, the longer the more often it was lost lately.
 */
export class Steadiness {
  readonly #clock: () => number
  /** When it was lost, the latest last. */
  #losses: number[] = []
  #steadyAt = Number.NEGATIVE_INFINITY
  #there = false

  /** @param clock milliseconds that only grow */
  constructor(clock: () => number) {
    this.#clock = clock
  }

  /** It was there, and is lost. */
  lost(): void {
    if (!this.#there) return
    this.#there = false
    const now = this.#clock()
    this.#losses = [...this.#losses.filter((at) => at > now - memoryMs), now].slice(-maxLosses)
  }

  /** It is there: for the first time, still, or again. */
  back(): void {
    if (this.#there) return
    this.#there = true
    const count = this.#losses.length
    if (count > 0) this.#steadyAt = this.#clock() + backoffMs(unsteadyBackoff, count)
  }

  /** How often it was lost lately. */
  get losses(): number {
    return this.#losses.length
  }

  /** From when on it is steady if it is not lost again, on its clock. */
  get steadyAt(): number {
    return this.#steadyAt
  }

  /** O(1). */
  get steady(): boolean {
    return this.#losses.length === 0 || this.#clock() >= this.#steadyAt
  }
}
