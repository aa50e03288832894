/** Number of consecutive checks without a message after which the controller no longer leads. */
const looksUntilOver = 6

/**
 * Detects that the controller of this process no longer leads its site. A leading controller confirms its role
 * regularly; a frozen controller does not. Once a replica has taken over, this process must not serve the same rooms.
 * Silence is measured in checks instead of time, so that a pause of this process is not attributed to the controller.
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

  /** Silence in milliseconds after which another controller leads; 0: no replica exists. */
  set leaseMs(leaseMs: number) {
    if (leaseMs === this.#leaseMs) return
    this.#leaseMs = leaseMs
    this.stop()
    if (leaseMs > 0) this.#timer = setInterval(() => this.#look(), leaseMs / looksUntilOver).unref()
  }

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
