import { wallClock } from '../system/time.ts'

/** Shortest time between two entries at first, in milliseconds. */
const firstSpacing = 1_000
/** Entries kept; beyond them every second one of the close ones is dropped. */
const maxEntries = 4_096
/** Terms kept: those of older lines are not asked for. */
const maxTerms = 4_096

/** Origin of the lines in memory: their terms, and when each came. If the database loses lines, the trail shows which ones and since when. */
export class JournalTrail {
  readonly #terms = new Set<string>()
  #lastTerm: string | undefined
  #entries: { seq: number; at: number }[] = []
  #spacing = firstSpacing

  /** @param terms of lines that were read together, without their times: see `termOf` */
  constructor(terms: Iterable<string> = []) {
    for (const term of terms) this.#addTerm(term)
  }

  /** Whether lines of this term, or its beginning, were seen. */
  hasSeen(term: string): boolean {
    return this.#terms.has(term)
  }

  /** Adds a line that was stored just now. */
  add(seq: number, term: string): void {
    if (term !== this.#lastTerm) this.#addTerm(term)
    const at = wallClock()
    const before = this.#entries.at(-1)
    if (before !== undefined && Math.abs(at - before.at) < this.#spacing) return
    this.#entries.push({ seq, at })
    if (this.#entries.length > maxEntries) this.#thin()
  }

  /** Returns when a line came into memory, in milliseconds since the epoch, accurate to the spacing of the entries; undefined: it was read together with others. */
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

  /** An entry that follows a long pause stays: it is the one that is asked for. */
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
  /** Its term: see `termOf`; undefined: a snapshot alone holds the line. */
  lastTerm: string | undefined
  trail: JournalTrail
}
