import { startTimer } from '../system/time.ts'

/** Timer that can be ended early. If `ring` is called while no wait is running, the next wait ends at once. */
export class Alarm {
  #rung = false
  #wake: (() => void) | undefined

  ring(): void {
    this.#rung = true
    this.#wake?.()
  }

  /** @param ms maximum duration, in milliseconds */
  async wait(ms: number): Promise<void> {
    if (!this.#rung) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      const timer = startTimer(ms, resolve)
      await promise
      timer.cancel()
      this.#wake = undefined
    }
    this.#rung = false
  }
}
