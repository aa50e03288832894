/** Checks in a row without a message after which the controller leads no more. */
const looksUntilOver = 6

/**
 * Whether the controller of this program still leads its site, where another one would take over: it says so again and again, and one that is frozen does not. Then the other
 * one serves the same rooms, and this program must not. Silence is counted in looks, not by the clock, so that a pause of this program is not blamed on the controller.
 */
export class LeadWatch {
  readonly #over: () => void
  #timer: NodeJS.Timeout | undefined
  #leaseMs = 0
  #silentLooks = 0

  /** @param over called once for each lease that ends */
  constructor(over: () => void) {
    this.#over = over
  }

  /** After so many milliseconds of silence another controller leads; 0: there is none. */
  set leaseMs(leaseMs: number) {
    if (leaseMs === this.#leaseMs) return
    this.#leaseMs = leaseMs
    this.stop()
    if (leaseMs > 0) this.#timer = setInterval(() => this.#look(), leaseMs / looksUntilOver).unref()
  }

  /** The controller said that it leads. */
  confirmed(): void {
    this.#silentLooks = 0
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#silentLooks = 0
  }

  #look(): void {
    this.#silentLooks += 1
    if (this.#silentLooks < looksUntilOver) return
    this.stop()
    this.#over()
  }
}
