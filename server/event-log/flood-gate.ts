/** How many of one key pass within a window; further ones are counted. */
export interface FloodLimits {
  most: number
  windowMs: number
  /** Called at the end of a window with the number that did not pass. */
  gathered: (key: string, count: number) => void
}

/** Keys that are watched at once: of further ones all pass. */
const maxKeys = 10_000

interface Window {
  until: number
  passed: number
  held: number
}

/** Lets the first few of a kind through and gathers the rest into one number, so that a flood pushes nothing else out of the log. O(1). */
export class FloodGate {
  readonly #limits: FloodLimits
  readonly #windows = new Map<string, Window>()
  #timer: NodeJS.Timeout | undefined

  constructor(limits: FloodLimits) {
    this.#limits = limits
  }

  /** Whether this one passes. */
  passes(key: string): boolean {
    const now = performance.now()
    let window = this.#windows.get(key)
    if (window === undefined || window.until <= now) {
      if (window !== undefined) this.#end(key, window)
      if (this.#windows.size >= maxKeys) return true
      window = { until: now + this.#limits.windowMs, passed: 0, held: 0 }
      this.#windows.set(key, window)
      this.#timer ??= setInterval(() => this.#sweep(), Math.min(this.#limits.windowMs, 60_000)).unref()
    }
    if (window.passed < this.#limits.most) {
      window.passed++
      return true
    }
    window.held++
    return false
  }

  /** Whether one of this key would be counted only. Counts nothing. */
  isFull(key: string): boolean {
    const window = this.#windows.get(key)
    return window !== undefined && window.passed >= this.#limits.most && window.until > performance.now()
  }

  /** Reports what is gathered, and stops. */
  close(): void {
    for (const [key, window] of this.#windows) this.#end(key, window)
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #sweep(): void {
    const now = performance.now()
    for (const [key, window] of this.#windows) if (window.until <= now) this.#end(key, window)
    if (this.#windows.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #end(key: string, window: Window): void {
    this.#windows.delete(key)
    if (window.held > 0) this.#limits.gathered(key, window.held)
  }
}
