import type { DestinationStream } from 'pino'

/** Keeps the last lines of the log in memory, for diagnostics, and passes every line on. */
export class RecentLog implements DestinationStream {
  readonly #next: DestinationStream
  readonly #maxCharacters: number
  #lines: string[] = []
  #characters = 0

  /** @param maxCharacters size at which the oldest lines go */
  constructor(next: DestinationStream, maxCharacters = 1024 * 1024) {
    this.#next = next
    this.#maxCharacters = maxCharacters
  }

  /** The last lines, as they were written. */
  get text(): string {
    return this.#lines.join('')
  }

  write(line: string): void {
    this.#next.write(line)
    this.#lines.push(line)
    this.#characters += line.length
    if (this.#characters > this.#maxCharacters) this.#forgetOldest()
  }

  /** Forgets a tenth at a time, so that not every line moves all others. */
  #forgetOldest(): void {
    let from = 0
    while (this.#characters > this.#maxCharacters * 0.9 && from < this.#lines.length) {
      this.#characters -= this.#lines[from]?.length ?? 0
      from += 1
    }
    this.#lines = this.#lines.slice(from)
  }
}
