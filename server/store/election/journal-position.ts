import type { JournalTrail } from './journal-trail.ts'

/** How far memory holds the journal. */
export interface JournalPosition {
  /** Number of the last line. */
  last: number
  /** Its term: see `termOf`; undefined: a snapshot alone holds the line. */
  lastTerm: string | undefined
  trail: JournalTrail
}
