/** Interval of clock checks, and length of a window, in milliseconds. `high` judges the last one to two windows. */
const everyMs = 50
const windowMs = 1_000
/** Maximum delay in milliseconds that is within the precision of timers. */
const punctualMs = 10
/** Share of a window above which its delays count as high. Occasional garbage collections stay below this share. */
const late = 0.1

/** Detects recent delays of the event loop. Such delays distort measurements of the network. */
export class EventLoopDelay {
  #timer: NodeJS.Timeout | undefined
  #lookedAt = 0
  #windowAt = 0
  #delayed = 0
  #delayedBefore = 0

  /** Begins to check the clock, until `stop`. */
  start(): void {
    this.#lookedAt = performance.now()
    this.#timer = setInterval(() => this.look(performance.now()), everyMs).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Measures the delay of this call, which is due every 50 ms. @param now milliseconds of a monotonic clock */
  look(now: number): void {
    if (now - this.#windowAt >= windowMs) {
      this.#windowAt = now
      this.#delayedBefore = this.#delayed
      this.#delayed = 0
    }
    const delay = now - this.#lookedAt - everyMs
    this.#lookedAt = now
    if (delay > punctualMs) this.#delayed += delay
  }

  /** Whether the event loop was delayed for more than 100 ms in total within the last one to two seconds. */
  get high(): boolean {
    return this.#delayed + this.#delayedBefore > late * windowMs
  }
}
