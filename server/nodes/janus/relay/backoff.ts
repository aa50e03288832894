/** Waits from one try to the next, in milliseconds; the last goes on. */
const waits = [0, 250, 500, 1_000, 2_000]
/** What lasted for so long, in milliseconds, was no mere try: two who put each other out do it no faster than others fail. */
const lastingMs = 5_000

/** Tries again in the background, later and later for as long as it fails. */
export class Backoff {
  readonly #again: () => void
  #failures = 0
  #succeededAt = Number.POSITIVE_INFINITY
  #timer: NodeJS.Timeout | undefined

  constructor(again: () => void) {
    this.#again = again
  }

  /** It waits for its next try. */
  get isWaiting(): boolean {
    return this.#timer !== undefined
  }

  /** It failed, or ended after it had succeeded. */
  failed(): void {
    clearTimeout(this.#timer)
    if (performance.now() - this.#succeededAt > lastingMs) this.#failures = 0
    this.#succeededAt = Number.POSITIVE_INFINITY
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined
        this.#again()
      },
      waits[Math.min(this.#failures, waits.length - 1)],
    )
    this.#timer.unref()
    this.#failures += 1
  }

  succeeded(): void {
    this.#succeededAt = performance.now()
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}

/** One of each key. */
export class Backoffs {
  readonly #again: () => void
  readonly #backoffs = new Map<string, Backoff>()

  constructor(again: () => void) {
    this.#again = again
  }

  of(key: string): Backoff {
    const backoff = this.#backoffs.get(key) ?? new Backoff(this.#again)
    this.#backoffs.set(key, backoff)
    return backoff
  }

  isWaiting(key: string): boolean {
    return this.#backoffs.get(key)?.isWaiting === true
  }

  /** Others are not tried again. */
  keep(isNeeded: (key: string) => boolean): void {
    for (const [key, backoff] of this.#backoffs) {
      if (isNeeded(key)) continue
      backoff.stop()
      this.#backoffs.delete(key)
    }
  }
}
