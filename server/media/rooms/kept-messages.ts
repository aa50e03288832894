import type { ToPerson } from '../../../shared/media/signal.ts'

/** Limits of messages kept for somebody whose connection was lost: their number, and their characters in all. */
const maxKept = 100
const maxKeptText = 512 * 1024

/** Messages for somebody whose connection was lost, until they are back. Further ones are dropped when the limits are reached. */
export class KeptMessages {
  readonly #messages: ToPerson[] = []
  #length = 0

  add(message: ToPerson): void {
    if (this.#messages.length >= maxKept) return
    const { length } = JSON.stringify(message)
    if (this.#length + length > maxKeptText) return
    this.#length += length
    this.#messages.push(message)
  }

  /** Returns the messages in their order, once. */
  take(): ToPerson[] {
    this.#length = 0
    return this.#messages.splice(0)
  }
}
