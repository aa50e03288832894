/** Milliseconds from one look at the clock to the next, and of the time that is judged: so long, and up to twice as long. */
const everyMs = 50
const windowMs = 1_000
/** Shorter delays are those of timers. */
const punctualMs = 10
/** Share of the time that counts as busy: an occasional garbage collection is less. */
const late = 0.1

/** Whether the program has been late itself in the last moments: then delays say nothing of the network. */
export class EventLoopDelay {
  #timer: NodeJS.Timeout | undefined
  #lookedAt = 0
  #windowAt = 0
  #delayed = 0
  #delayedBefore = 0

  /** Begins to look at the clock, until `stop`. */
  start(): void {
    this.#lookedAt = performance.now()
    this.#timer = setInterval(() => this.look(performance.now()), everyMs).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Called every 50 ms, or as soon as possible then. @param now milliseconds of a clock that never goes back */
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

  /** Whether a tenth of the last one to two seconds was lost in waiting for its turn. */
  get high(): boolean {
    return this.#delayed + this.#delayedBefore > late * windowMs
  }
}
