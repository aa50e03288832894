/**
 * Resources of a connection, session or peer: timers, handlers, and anything else to release. A lifetime ends once.
 * After its end, no handler runs and no timer starts, even if an answer or event arrives late.
 */
export class Lifetime {
  readonly #failed: (error: unknown) => void
  readonly #releases = new Set<() => void>()
  #over = false

  /** @param failed called with an unexpected error of a handler; should end the owner, not the process */
  constructor(failed: (error: unknown) => void) {
    this.#failed = failed
  }

  get over(): boolean {
    return this.#over
  }

  /** Returns a wrapper of a handler that does nothing after the end and never throws. */
  guard<Values extends unknown[]>(run: (...values: Values) => void): (...values: Values) => void {
    return (...values) => {
      if (this.#over) return
      try {
        run(...values)
      } catch (error) {
        this.#failed(error)
      }
    }
  }

  /** Calls `run` once after a delay, unless this lifetime ends or the returned function is called first. */
  after(milliseconds: number, run: () => void): () => void {
    if (this.#over) return () => {}
    const guarded = this.guard(run)
    const timer = setTimeout(() => {
      this.#releases.delete(cancel)
      guarded()
    }, milliseconds).unref()
    const cancel = (): void => {
      this.#releases.delete(cancel)
      clearTimeout(timer)
    }
    this.#releases.add(cancel)
    return cancel
  }

  /** Calls `run` at an interval until this lifetime ends. */
  every(milliseconds: number, run: () => void): void {
    if (this.#over) return
    const timer = setInterval(this.guard(run), milliseconds).unref()
    this.#releases.add(() => clearInterval(timer))
  }

  /** Registers a function that runs when this lifetime ends, or at once if it has ended. */
  onEnd(release: () => void): void {
    if (this.#over) this.#release(release)
    else this.#releases.add(release)
  }

  /** Ends this lifetime and releases its resources. Idempotent. */
  end(): void {
    if (this.#over) return
    this.#over = true
    const releases = [...this.#releases]
    this.#releases.clear()
    for (const release of releases) this.#release(release)
  }

  /** Runs a release function. Reports its error instead of throwing, so that the remaining functions run. */
  #release(release: () => void): void {
    try {
      release()
    } catch (error) {
      this.#failed(error)
    }
  }
}
