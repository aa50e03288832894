/** Maximum number of ended terms: only the last few can reappear. */
const max = 100

/**
 * Ended terms of leaders that this program has seen, and the epoch of the latest term.
 * If an ended term is current again, the database was restored to an older state (a restored dump, an asynchronous
 * failover). The database then lacks later assignments, for example the room numbers of a leader that this controller
 * did not follow.
 */
export class KnownTerms {
  readonly #ended = new Set<string>()
  #current: string | undefined
  #epoch = ''

  /** Epoch of the latest term that was led or read; empty: none. A leader with a lower epoch has been replaced. */
  get epoch(): string {
    return this.#epoch
  }

  /** Records an epoch that was just read. A restored database continues from a lower epoch. */
  noteEpoch(epoch: string): void {
    this.#epoch = epoch
  }

  /** Records that this program leads with a term: the previous term has ended. */
  lead({ id, epoch }: { id: string; epoch: string }): void {
    this.#epoch = epoch
    if (this.#current !== undefined && this.#current !== id) this.end(this.#current)
    this.#current = id
  }

  /** Records that a term has ended, because another controller has taken over. */
  end(term: string): void {
    this.#ended.delete(term)
    this.#ended.add(term)
    for (const oldest of this.#ended) {
      if (this.#ended.size <= max) break
      this.#ended.delete(oldest)
    }
  }

  /** Records the current term. @returns true: the term had ended, and no earlier call reported its return */
  hasComeBack(term: string): boolean {
    if (term === this.#current && !this.#ended.has(term)) return false
    if (this.#current !== undefined && this.#current !== term) this.end(this.#current)
    this.#current = term
    return this.#ended.delete(term)
  }
}
