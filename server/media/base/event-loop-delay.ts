/** Interval of clock checks, and length of a window, in milliseconds. The judged period is one to two windows long. */
const everyMs = 50
const windowMs = 1_000
/** Shorter delays are within the precision of timers. */
const punctualMs = 10
/** Share of delayed time above which the process is busy. An occasional garbage collection is below it. */
const late = 0.1

/** Measures whether the event loop was late recently. If so, measured delays are not caused by the network. */
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

  /** Called every 50 ms, or as soon as possible after that. @param now milliseconds of a monotonic clock */
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

  /** Whether a tenth of the last one to two seconds was delay of the event loop. */
  get high(): boolean {
    return this.#delayed + this.#delayedBefore > late * windowMs
  }
}
