/** Terms that are remembered: only the last few can come back. */
const max = 100

/**
 * Terms of leaders, as far as this program has seen: those that have ended, and the epoch of the latest. One that lasts again tells that the database has gone back (a dump put back, an asynchronous failover), and forgot
 * what was given since: the room numbers of a leader that nobody here followed, for one.
 */
export class KnownTerms {
  readonly #ended = new Set<string>()
  #current: string | undefined
  #epoch = ''

  /** Epoch of the latest term that was led or read; empty: none was. Who led with a lower one has been followed. */
  get epoch(): string {
    return this.#epoch
  }

  /** @param epoch read just now; a database that was put back counts anew from a lower one */
  noteEpoch(epoch: string): void {
    this.#epoch = epoch
  }

  /** This program leads with a term: the one before it has ended. */
  lead({ id, epoch }: { id: string; epoch: string }): void {
    this.#epoch = epoch
    if (this.#current !== undefined && this.#current !== id) this.end(this.#current)
    this.#current = id
  }

  /** Another controller has taken over from this term. */
  end(term: string): void {
    this.#ended.delete(term)
    this.#ended.add(term)
    for (const oldest of this.#ended) {
      if (this.#ended.size <= max) break
      this.#ended.delete(oldest)
    }
  }

  /** Notes the term that lasts now. @returns true: it had ended, and this was not noted yet */
  hasComeBack(term: string): boolean {
    if (term === this.#current && !this.#ended.has(term)) return false
    if (this.#current !== undefined && this.#current !== term) this.end(this.#current)
    this.#current = term
    return this.#ended.delete(term)
  }
}
