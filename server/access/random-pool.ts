import { randomFillSync } from 'node:crypto'

/** Size of one random text in bytes: 128 bits. */
const size = 16

/**
 * Random texts of 128 bits, requested from the system in batches: one system call per text would cost more than the
 * rest of an authentication.
 */
export class RandomPool {
  readonly #bytes = Buffer.alloc(size * 256)
  #next = this.#bytes.length

  /** Returns 32 unguessable hex digits, never returned before. */
  take(): string {
    if (this.#next === this.#bytes.length) {
      randomFillSync(this.#bytes)
      this.#next = 0
    }
    const from = this.#next
    this.#next += size
    const text = this.#bytes.toString('hex', from, this.#next)
    this.#bytes.fill(0, from, this.#next)
    return text
  }
}
