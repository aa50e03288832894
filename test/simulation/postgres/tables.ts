/** One row of `roomdesk_journal`. */
export interface JournalRow {
  seq: number
  epoch: number
  term: string
  records: number
  /** Server's clock, milliseconds. */
  at: number
  line: string
}

/** One row of `roomdesk_snapshot`, with its parts. */
export interface SnapshotRow {
  id: number
  seq: number
  records: number
  room_number: number
  written_at: number
  bytes: number
  parts: number
  content: { part: number; checksum: string; lines: string }[]
}

/** The row of `roomdesk_leader`. Times are those of the server's clock, in milliseconds. */
export interface LeaderRow {
  epoch: number
  term: string
  roomNumbers: number
  holder: string
  name: string
  since: number
  controller: string | null
  renewedAt: number | null
  leaseMs: number
  successor: string | null
  successorUntil: number | null
  readsMs: number
}

/** One row of `roomdesk_term`. */
export interface TermRow {
  term: string
  epoch: number
  after: number
}

/** One row of `roomdesk_controller`. */
export interface ControllerRow {
  id: string
  name: string
  version: string
  place: unknown
  applied: number
  behind: number
  behindMs: number
  seenAt: number
  since: number
  folder: string
}

/** Contents of a database. Rows are never mutated: a view keeps the arrays. */
export interface Tables {
  site:
    | { site: string; tables: number; additions: number; records: number; key_proof: string; moved_to: string }
    | undefined
  leader: LeaderRow | undefined
  controllers: ReadonlyMap<string, ControllerRow>
  journal: readonly JournalRow[]
  snapshots: readonly SnapshotRow[]
  terms: readonly TermRow[]
}

/** A change of the tables, as the write-ahead log keeps it: executed on the primary and on every standby. */
export type Mutation = (tables: Tables) => void

export function emptyTables(): Tables {
  return { site: undefined, leader: undefined, controllers: new Map(), journal: [], snapshots: [], terms: [] }
}

/** All of one instant. */
export function viewOf(tables: Tables): Tables {
  return { ...tables }
}

/** Index of the first row with at least this number; the length of the journal: there is none. */
export function firstAt(journal: readonly JournalRow[], seq: number): number {
  let [low, high] = [0, journal.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((journal[middle]?.seq ?? 0) < seq) low = middle + 1
    else high = middle
  }
  return low
}

/** Whether this term lasts. */
export function isTerm({ leader }: Tables, epoch: unknown, term: unknown): boolean {
  return String(leader?.epoch) === epoch && leader?.term === term
}

/** Number of the last line that is stored. */
export function headOf({ journal, snapshots }: Tables): number {
  return Math.max(journal.at(-1)?.seq ?? 0, ...snapshots.map(({ seq }) => seq), 0)
}
