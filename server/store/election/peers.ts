import type { ReportedController } from './controller-rows.ts'
import type { KnownController } from './site-member.ts'

/** Controllers of the site, for the leader: those in the last report, and those that joined since. */
export class Peers {
  /** Controllers in the last report, this controller first. */
  #known: readonly ReportedController[] = []
  /** Controllers that have joined since that report, by id. */
  readonly #joined = new Map<string, KnownController>()
  #joinings = 0
  readonly #heededAtFirst: boolean

  /**
   * @param heedReads whether all controllers waited for the validity of proofs when the epoch was raised. Used until
   *   the list of controllers is known.
   */
  constructor(heedReads: boolean) {
    this.#heededAtFirst = heedReads
  }

  get joinings(): number {
    return this.#joinings
  }

  /**
   * Whether the list of controllers has been read. If the database was lost before that, the leader has no addresses
   * for its requests.
   */
  get areKnown(): boolean {
    return this.#known.length > 0
  }

  /** All controllers that reported in the last day, or joined since. */
  get all(): KnownController[] {
    const known = this.#known.slice(1).filter(({ id }) => !this.#joined.has(id))
    return [...known, ...this.#joined.values()]
  }

  /**
   * Whether each controller, on a takeover, waits for the validity of proofs in the leader's row. For a controller
   * that has just joined, this is known from its next report.
   */
  get heedReads(): boolean {
    if (this.#joined.size > 0) return false
    return this.areKnown ? this.#known.every(({ heedsReads }) => heedsReads) : this.#heededAtFirst
  }

  /** Records the controllers in the last report. @param known this controller first */
  found(known: readonly ReportedController[]): void {
    this.#known = known
    for (const { id, place } of known)
      if (this.#joined.get(id)?.place.console === place.console) this.#joined.delete(id)
  }

  /** Records a controller that has joined, or has a new address. */
  joined(controller: KnownController): void {
    this.#joined.set(controller.id, controller)
    this.#joinings += 1
  }

  /** Whether any other controller has reported within this time. */
  havePresent(milliseconds: number): boolean {
    const now = this.#known[0]?.seenAt ?? 0
    return this.all.some(({ seenAt }) => now - seenAt < milliseconds)
  }
}
