/** Milliseconds of work in one turn of the event loop; then others get theirs. */
const sliceMs = 4
/** Pieces that wait at most. More than this machine can do would only be done later and later: what comes then is left out. */
const mostWaiting = 4_096

/**
 * Work that comes in bursts, in slices: a key frame for hundreds of viewers takes as long as some hundred requests. In order, and at once as long as this turn
 * of the event loop has time for it.
 */
export class Slices {
  readonly #waiting: (() => void)[] = []
  readonly #clock: () => number
  #spentMs = 0
  #armed = false

  /** @param clock milliseconds that only grow */
  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock
  }

  /** Nothing waits. */
  get idle(): boolean {
    return this.#waiting.length === 0
  }

  /** @param work must not throw */
  run(work: () => void): void {
    if (this.idle && this.#spentMs < sliceMs) this.#do(work)
    else if (this.#waiting.length < mostWaiting) this.#waiting.push(work)
    this.#arm()
  }

  #do(work: () => void): void {
    const began = this.#clock()
    work()
    this.#spentMs += this.#clock() - began
  }

  #arm(): void {
    if (this.#armed) return
    this.#armed = true
    setImmediate(() => {
      this.#armed = false
      this.#spentMs = 0
      for (let next; this.#spentMs < sliceMs && (next = this.#waiting.shift()) !== undefined; ) this.#do(next)
      if (!this.idle) this.#arm()
    })
  }
}
