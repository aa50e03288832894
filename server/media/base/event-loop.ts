/** Sharing of the event loop: bursts of work are spread over turns, and delays are measured. */

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

/**
 * Queue of work that comes in bursts. Each item gets its own event loop turn, so that the controller's requests,
 * packets and timers are handled in between. First in, first out.
 */
export class OfferQueue {
  readonly #waiting: (() => void)[] = []
  #giving = false

  /** Resolves at the start of the caller's turn, which lasts until the caller awaits. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#arm()
    })
  }

  #arm(): void {
    if (this.#giving) return
    this.#giving = true
    // An immediate scheduled inside another immediate runs in the next turn.
    setImmediate(() => {
      this.#giving = false
      this.#waiting.shift()?.()
      if (this.#waiting.length > 0) this.#arm()
    })
  }
}

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
