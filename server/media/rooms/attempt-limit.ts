/** Addresses remembered; the oldest go first. */
const mostAddresses = 10_000

/** Counts failures per address in windows of time. */
export class AttemptLimit {
  readonly #most: number
  readonly #windowMs: number
  readonly #windows = new Map<string, { until: number; count: number }>()

  constructor(most: number, windowMs: number) {
    this.#most = most
    this.#windowMs = windowMs
  }

  /** Whether this address has failed too often. */
  reached(address: string, now = Date.now()): boolean {
    const window = this.#windows.get(address)
    return window !== undefined && window.until > now && window.count >= this.#most
  }

  note(address: string, now = Date.now()): void {
    const window = this.#windows.get(address)
    if (window !== undefined && window.until > now) {
      window.count += 1
      return
    }
    this.#windows.delete(address)
    this.#windows.set(address, { until: now + this.#windowMs, count: 1 })
    for (const oldest of this.#windows.keys()) {
      if (this.#windows.size <= mostAddresses) break
      this.#windows.delete(oldest)
    }
  }
}
