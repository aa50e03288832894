import { onAbort } from '../../shared/abort.ts'

export interface GateLimits {
  /** Maximum number of attempts that hold a slot: those that started within the last `patienceMs`. */
  width: number
  /**
   * Time after which a running attempt releases its slot, in milliseconds. After this time, the attempt only waits for
   * the device, which costs nothing.
   */
  patienceMs: number
  /** Maximum number of running attempts, including those without a slot, because each holds a socket. */
  maxAtOnce: number
}

interface Waiting {
  begin(): void
}

/** Number of failures from which devices share one queue; at this number the backoff has reached its maximum. */
const maxFailures = 6

/**
 * Limits the rate at which joins start. Devices with the fewest failures start first, in order of arrival. An
 * unresponsive device holds its slot only briefly, so that any number of unresponsive devices does not delay others.
 */
export class AttemptGate {
  readonly #limits: GateLimits
  /** Queues of waiting devices; the index is the number of consecutive failures. */
  readonly #waiting = Array.from({ length: maxFailures + 1 }, () => new Set<Waiting>())
  #placesTaken = 0
  #underWay = 0

  constructor(limits: GateLimits) {
    this.#limits = limits
  }

  /**
   * Runs `task` when a slot is free. If the signal aborts before that, the task never runs and the promise rejects with
   * the signal's reason.
   * @param failures number of consecutive failures of this device
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

  /** Resolves when a slot has been taken. */
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
    const { width, maxAtOnce } = this.#limits
    while (this.#placesTaken < width && this.#underWay < maxAtOnce) {
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
