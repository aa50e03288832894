import { wallClock } from '../system/time.ts'

/** Initial minimum interval between two entries, in milliseconds. */
const firstSpacing = 1_000
/** Maximum number of entries; above it, entries that are close together are thinned out. */
const maxEntries = 4_096
/** Maximum number of terms; terms of older lines are not needed. */
const maxTerms = 4_096

/**
 * Origin of the lines in memory: their terms, and the time of arrival of each line. If the database loses lines, the
 * trail shows the lost lines, and the time of the first.
 */
export class JournalTrail {
  readonly #terms = new Set<string>()
  #lastTerm: string | undefined
  #entries: { seq: number; at: number }[] = []
  #spacing = firstSpacing

  /** @param terms terms of lines that were read together, without their times (see `termOf`) */
  constructor(terms: Iterable<string> = []) {
    for (const term of terms) this.#addTerm(term)
  }

  /** Whether lines of this term, or the start of this term, were read. */
  hasSeen(term: string): boolean {
    return this.#terms.has(term)
  }

  /** Adds a line that was just stored. */
  add(seq: number, term: string): void {
    if (term !== this.#lastTerm) this.#addTerm(term)
    const at = wallClock()
    const before = this.#entries.at(-1)
    if (before !== undefined && Math.abs(at - before.at) < this.#spacing) return
    this.#entries.push({ seq, at })
    if (this.#entries.length > maxEntries) this.#thin()
  }

  /**
   * Returns when a line was loaded into memory, in milliseconds since the epoch, as precise as the spacing of entries;
   * undefined: the line was read together with others.
   */
  timeOf(seq: number): number | undefined {
    return this.#entries.findLast((entry) => entry.seq <= seq)?.at
  }

  #addTerm(term: string): void {
    this.#lastTerm = term
    this.#terms.delete(term)
    this.#terms.add(term)
    const [oldest] = this.#terms
    if (this.#terms.size > maxTerms && oldest !== undefined) this.#terms.delete(oldest)
  }

  /** Drops entries that are close together. An entry after a long pause is kept, because lookups need it. */
  #thin(): void {
    this.#spacing *= 2
    let kept = Number.NEGATIVE_INFINITY
    this.#entries = this.#entries.filter(({ at }) => {
      if (Math.abs(at - kept) < this.#spacing) return false
      kept = at
      return true
    })
  }
}

/** Position in the journal up to which memory is current. */
export interface JournalPosition {
  /** Number of the last line. */
  last: number
  /** Term of the last line (see `termOf`); undefined: only a snapshot contains the line. */
  lastTerm: string | undefined
  trail: JournalTrail
}

/** Maximum number of ended terms: only the last few can reappear. */
const maxEnded = 100

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
      if (this.#ended.size <= maxEnded) break
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
