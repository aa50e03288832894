import type { DestinationStream } from 'pino'

/** Keeps the last lines of the log in memory, for diagnostics, and passes every line on. */
export class RecentLog implements DestinationStream {
  readonly #next: DestinationStream
  readonly #maxCharacters: number
  #lines: string[] = []
  #characters = 0

  /** @param maxCharacters size above which the oldest lines are dropped */
  constructor(next: DestinationStream, maxCharacters = 1024 * 1024) {
    this.#next = next
    this.#maxCharacters = maxCharacters
  }

  /** Last lines of the log, unchanged. */
  get text(): string {
    return this.#lines.join('')
  }

  write(line: string): void {
    this.#next.write(line)
    this.#lines.push(line)
    this.#characters += line.length
    if (this.#characters > this.#maxCharacters) this.#forgetOldest()
  }

  /** Drops a tenth of the text at once, so that the array is not copied for every line. */
  #forgetOldest(): void {
    let from = 0
    while (this.#characters > this.#maxCharacters * 0.9 && from < this.#lines.length) {
      this.#characters -= this.#lines[from]?.length ?? 0
      from += 1
    }
    this.#lines = this.#lines.slice(from)
  }
}
