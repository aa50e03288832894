import { onAbort } from '../../shared/abort.ts'

/** How many joins a gate lets through. */
export interface GateLimits {
  /** Attempts that take a place: those that began within the last `patienceMs`. */
  width: number
  /** Milliseconds after which an attempt that has not ended gives its place to the next: it waits for a device, which costs nothing. */
  patienceMs: number
  /** Attempts under way, those without a place included: each holds a socket. */
  most: number
}

interface Waiting {
  begin(): void
}

/** Highest count of failures that is told apart; the backoff has reached its top by then. */
const maxFailures = 6

/**
 * Lets joins begin at a steady pace: those of devices that failed least first, in the order they came. A device that is dead holds its place for a moment only,
 * so that any number of them keeps nobody waiting.
 */
export class AttemptGate {
  readonly #limits: GateLimits
  /** Waiting devices by their failures in a row. */
  readonly #waiting = Array.from({ length: maxFailures + 1 }, () => new Set<Waiting>())
  #placesTaken = 0
  #underWay = 0

  constructor(limits: GateLimits) {
    this.#limits = limits
  }

  /**
   * Runs `task` when it is its turn. One whose signal aborts while it waits never runs: it rejects with the signal's reason.
   * @param failures how often this device failed in a row
   */
  async pass(signal: AbortSignal, failures: number, task: () => Promise<void>): Promise<void> {
    await this.#turn(signal, failures)
    let placed = true
    const yieldPlace = (): void => {
      if (!placed) return
      placed = false
      this.#placesTaken -= 1
      this.#admit()
    }
    const timer = setTimeout(yieldPlace, this.#limits.patienceMs)
    timer.unref()
    try {
      await task()
    } finally {
      clearTimeout(timer)
      this.#underWay -= 1
      if (placed) yieldPlace()
      else this.#admit()
    }
  }

  /** Resolves with a place taken. */
  #turn(signal: AbortSignal, failures: number): Promise<void> {
    if (signal.aborted) return Promise.reject(signal.reason)
    const queue = this.#waiting[Math.min(failures, maxFailures)]
    if (queue === undefined) return Promise.reject(new RangeError('a count of failures is not negative'))
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const giveUp = (): void => {
      queue.delete(waiting)
      reject(signal.reason)
    }
    const waiting: Waiting = {
      begin: () => {
        queue.delete(waiting)
        unregister()
        resolve()
      },
    }
    queue.add(waiting)
    const unregister = onAbort(signal, giveUp)
    this.#admit()
    return promise
  }

  #admit(): void {
    const { width, most } = this.#limits
    while (this.#placesTaken < width && this.#underWay < most) {
      const next = this.#next()
      if (next === undefined) return
      this.#placesTaken += 1
      this.#underWay += 1
      next.begin()
    }
  }

  #next(): Waiting | undefined {
    for (const queue of this.#waiting) for (const waiting of queue) return waiting
    return undefined
  }
}
