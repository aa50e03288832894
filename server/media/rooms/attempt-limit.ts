/** Keys remembered; the oldest go first. */
const mostKeys = 10_000

/** Counts failures per key (who tries what) in windows of time. */
export class AttemptLimit {
  readonly #most: number
  readonly #windowMs: number
  readonly #windows = new Map<string, { until: number; count: number }>()

  constructor(most: number, windowMs: number) {
    this.#most = most
    this.#windowMs = windowMs
  }

  /** Whether this one has failed too often. */
  reached(key: string, now = Date.now()): boolean {
    const window = this.#windows.get(key)
    return window !== undefined && window.until > now && window.count >= this.#most
  }

  note(key: string, now = Date.now()): void {
    const window = this.#windows.get(key)
    if (window !== undefined && window.until > now) {
      window.count += 1
      return
    }
    this.#windows.delete(key)
    this.#windows.set(key, { until: now + this.#windowMs, count: 1 })
    for (const oldest of this.#windows.keys()) {
      if (this.#windows.size <= mostKeys) break
      this.#windows.delete(oldest)
    }
  }
}
