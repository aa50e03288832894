/** Time budget for work in one event loop turn, in milliseconds. */
const sliceMs = 4
/**
 * Maximum number of queued work items, shared equally by the queues with waiting work. Further work is dropped, because
 * its delay would keep growing.
 */
const maxWaiting = 4_096

/** Queue of work that runs in order, at once or later. */
export interface SliceQueue {
  readonly idle: boolean
  /**
   * @param work must not throw
   * @returns false if the queue is full; the work is then dropped
   */
  run(work: () => void): boolean
}

/**
 * Spreads bursts of work over event loop turns: a key frame for hundreds of viewers takes as long as a few hundred
 * requests. Work runs at once while the current turn has time left. Queued work keeps its order within a queue, and the
 * queues alternate item by item, so that no queue waits for all the work of another queue.
 */
export class Slices {
  /** Queues with waiting work; the next one to run comes first. */
  readonly #waiting: (() => void)[][] = []
  readonly #clock: () => number
  #spentMs = 0
  #armed = false

  /** @param clock monotonic, in milliseconds */
  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock
  }

  queue(): SliceQueue {
    const waiting: (() => void)[] = []
    return {
      get idle() {
        return waiting.length === 0
      },
      run: (work) => this.#run(waiting, work),
    }
  }

  #run(waiting: (() => void)[], work: () => void): boolean {
    if (waiting.length === 0 && this.#spentMs < sliceMs) this.#do(work)
    else if (waiting.length === 0) {
      waiting.push(work)
      this.#waiting.push(waiting)
    } else if (waiting.length * this.#waiting.length < maxWaiting) waiting.push(work)
    else return false
    this.#arm()
    return true
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
      this.#workOff()
      // Queued work continues in the next turn, with its own time budget.
      if (this.#spentMs > 0) this.#arm()
    })
  }

  #workOff(): void {
    while (this.#spentMs < sliceMs) {
      const queue = this.#waiting.shift()
      const work = queue?.shift()
      if (queue === undefined || work === undefined) return
      if (queue.length > 0) this.#waiting.push(queue)
      this.#do(work)
    }
  }
}
