import { type Backoff, backoffMs } from '../../../../shared/backoff.ts'

/** Time for which a loss counts, in milliseconds. */
const memoryMs = 10 * 60_000
/** Time until a returning node counts as steady, by its number of losses. */
const unsteadyBackoff: Backoff = { first: 10_000, max: 5 * 60_000 }
/** Maximum number of losses that count. */
const maxLosses = 10

/**
 * Estimates from its losses whether a node is likely to stay online. A node that returns after a loss is empty, and
 * would therefore get all new rooms, which would fail with its next loss. Such a node counts as steady only after a
 * while, which grows with the number of recent losses.
 */
export class Steadiness {
  readonly #clock: () => number
  /** Times of the losses, the latest last. */
  #losses: number[] = []
  #steadyAt = Number.NEGATIVE_INFINITY
  #there = false

  /** @param clock returns milliseconds of a monotonic clock */
  constructor(clock: () => number) {
    this.#clock = clock
  }

  /** Records that an online node was lost. */
  lost(): void {
    if (!this.#there) return
    this.#there = false
    const now = this.#clock()
    this.#losses = [...this.#losses.filter((at) => at > now - memoryMs), now].slice(-maxLosses)
  }

  /** Records that the node is online. Repeated calls have no effect. */
  back(): void {
    if (this.#there) return
    this.#there = true
    const count = this.#losses.length
    if (count > 0) this.#steadyAt = this.#clock() + backoffMs(unsteadyBackoff, count)
  }

  /** Number of recent losses. */
  get losses(): number {
    return this.#losses.length
  }

  /** Time from which the node counts as steady, on the given clock. */
  get steadyAt(): number {
    return this.#steadyAt
  }

  /** Whether the node counts as steady now. O(1). */
  get steady(): boolean {
    return this.#losses.length === 0 || this.#clock() >= this.#steadyAt
  }
}
