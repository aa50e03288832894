import { monotonic, sleepOn } from '../store/system/time.ts'

/** Limits the number of concurrent holders per key; further callers wait in order. */
export class ShareGate {
  readonly #max: number
  readonly #held = new Map<string, number>()
  readonly #waiting = new Map<string, (() => void)[]>()

  constructor(max: number) {
    this.#max = max
  }

  /**
   * Takes a slot.
   * @param deadline milliseconds of monotonic()
   * @returns true: the caller has a slot and must release it; false: no slot by the deadline
   * @throws the abort reason of `signal`
   */
  async take(key: string, deadline: number, signal: AbortSignal): Promise<boolean> {
    const held = this.#held.get(key) ?? 0
    if (held < this.#max) {
      this.#held.set(key, held + 1)
      return true
    }
    const queue = this.#waiting.get(key) ?? []
    this.#waiting.set(key, queue)
    const over = new AbortController()
    let taken = false
    const turn = new Promise<void>((resolve) => {
      queue.push(() => {
        taken = true
        resolve()
      })
    })
    const own = queue.at(-1)
    try {
      const late = sleepOn(Math.max(0, deadline - monotonic()), {
        signal: AbortSignal.any([signal, over.signal]),
        ref: false,
      })
      // After the deadline, the code below checks whether a slot was taken.
      await Promise.race([turn, late.catch(() => undefined)])
    } finally {
      over.abort()
    }
    if (taken && signal.aborted) this.leave(key)
    else if (!taken && own !== undefined) queue.splice(queue.indexOf(own), 1)
    signal.throwIfAborted()
    return taken
  }

  /** Releases a slot, and gives it to the longest waiting caller. */
  leave(key: string): void {
    const queue = this.#waiting.get(key)
    const next = queue?.shift()
    if (queue?.length === 0) this.#waiting.delete(key)
    if (next !== undefined) return next()
    const held = (this.#held.get(key) ?? 0) - 1
    if (held > 0) this.#held.set(key, held)
    else this.#held.delete(key)
  }
}
