import { randomFillSync } from 'node:crypto'

/** Bytes of one random text: 128 bits. */
const size = 16

/** Random texts of 128 bits, asked of the system for many at a time: one call per text costs more than everything else of an authentication. */
export class RandomPool {
  readonly #bytes = Buffer.alloc(size * 256)
  #next = this.#bytes.length

  /** 32 hex digits that nobody can guess, never given before. */
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
