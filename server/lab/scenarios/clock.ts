import { pause } from '../../../shared/sleep.ts'

/** Maximum delay of a timer, in milliseconds; a longer wait is repeated. */
const maxTimer = 3_600_000

/** Clock of a scenario, which can be paused, stepped and scaled. */
export class ScenarioClock {
  readonly #now: () => number
  #pace: number
  /** Scenario time at `#since`, in milliseconds. */
  #elapsed = 0
  /** Real time of the last change; undefined: the clock is paused. */
  #since: number | undefined
  /** Aborted at each change: waits begin anew. */
  #changed = new AbortController()
  /** Whether the step that is due next begins at once. */
  #stepping = false

  /**
   * @param pace factor of real time; Infinity: waits end at once
   * @param now returns real milliseconds
   */
  constructor(pace: number, now: () => number = () => performance.now()) {
    this.#pace = pace
    this.#now = now
    this.#since = now()
  }

  get paused(): boolean {
    return this.#since === undefined
  }

  /** Scenario time, in milliseconds. */
  get time(): number {
    if (this.#since === undefined || this.#pace === Infinity) return this.#elapsed
    return this.#elapsed + (this.#now() - this.#since) * this.#pace
  }

  pause(): void {
    this.#elapsed = this.time
    this.#since = undefined
    this.#change()
  }

  resume(): void {
    this.#elapsed = this.time
    this.#since = this.#now()
    this.#change()
  }

  /** Begins the next step at once, and pauses before the one behind it. */
  step(): void {
    this.pause()
    this.#stepping = true
    this.#change()
  }

  /** Resolves at a scenario time. @throws the signal's reason */
  async until(at: number, signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted()
      const changed = this.#changed.signal
      if (this.#stepping || (!this.paused && (this.#pace === Infinity || this.time >= at))) {
        this.#stepping = false
        this.#elapsed = Math.max(this.time, at)
        if (this.#since !== undefined) this.#since = this.#now()
        return
      }
      const remaining = this.paused ? Infinity : (at - this.time) / this.#pace
      await pause(Math.min(remaining, maxTimer), { signal: AbortSignal.any([signal, changed]) })
    }
  }

  #change(): void {
    this.#changed.abort()
    this.#changed = new AbortController()
  }
}
