/** Lets `burst` through at once and `perSecond` after that. */
export class RateLimit {
  readonly #burst: number
  readonly #perSecond: number
  #left: number
  #at = Date.now()

  constructor(burst: number, perSecond: number) {
    this.#burst = burst
    this.#perSecond = perSecond
    this.#left = burst
  }

  /** Whether one more is within the limit. */
  allows(now = Date.now()): boolean {
    this.#left = Math.min(this.#burst, this.#left + ((now - this.#at) / 1000) * this.#perSecond)
    this.#at = now
    if (this.#left < 1) return false
    this.#left -= 1
    return true
  }
}
