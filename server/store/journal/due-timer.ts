import { startTimer, type Timer } from '../system/time.ts'
/** Sets a mark when a time has passed. It does not hold the process. */
export class DueTimer {
  readonly #milliseconds: number
  readonly #onDue: () => void
  #timer: Timer | undefined
  due = false

  /** @param onDue called after the mark was set */
  constructor(milliseconds: number, onDue: () => void) {
    this.#milliseconds = milliseconds
    this.#onDue = onDue
  }

  /** Begins to wait, unless it waits already. */
  start(): void {
    if (this.#timer !== undefined) return
    const due = (): void => {
      this.#timer = undefined
      this.due = true
      this.#onDue()
    }
    this.#timer = startTimer(this.#milliseconds, due, false)
  }

  stop(): void {
    this.#timer?.cancel()
  }
}
