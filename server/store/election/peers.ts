import type { ReportedController } from './controller-rows.ts'
import type { KnownController } from './site-member.ts'

/** The other controllers of the site, as far as the one that leads knows them. */
export class Peers {
  /** This controller first, as the last report has found them. */
  #known: readonly ReportedController[] = []
  /** Controllers that have joined since, by id. */
  readonly #joined = new Map<string, KnownController>()
  #joinings = 0
  readonly #heededAtFirst: boolean

  /** @param heedReads whether all controllers did as the epoch was raised: counts until they are known */
  constructor(heedReads: boolean) {
    this.#heededAtFirst = heedReads
  }

  /** Number of joinings until now. */
  get joinings(): number {
    return this.#joinings
  }

  /** A leader that lost the database before it could read who there is knows nobody whom it could ask. */
  get areKnown(): boolean {
    return this.#known.length > 0
  }

  /** All that reported in the last day, or joined since. */
  get all(): KnownController[] {
    const known = this.#known.slice(1).filter(({ id }) => !this.#joined.has(id))
    return [...known, ...this.#joined.values()]
  }

  /** Whether each of them, when it takes over, waits for as long as the leader's row says. Of one that joined that is known with its next report. */
  get heedReads(): boolean {
    if (this.#joined.size > 0) return false
    return this.areKnown ? this.#known.every(({ heedsReads }) => heedsReads) : this.#heededAtFirst
  }

  /** Takes what the last report has found. @param known this controller first */
  found(known: readonly ReportedController[]): void {
    this.#known = known
    for (const { id, place } of known)
      if (this.#joined.get(id)?.place.console === place.console) this.#joined.delete(id)
  }

  /** One has joined, or has a new address. */
  joined(controller: KnownController): void {
    this.#joined.set(controller.id, controller)
    this.#joinings += 1
  }

  /** Whether one of them has reported within so many milliseconds. */
  havePresent(milliseconds: number): boolean {
    const now = this.#known[0]?.seenAt ?? 0
    return this.all.some(({ seenAt }) => now - seenAt < milliseconds)
  }
}
