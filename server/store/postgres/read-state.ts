import { crc32 } from 'node:zlib'
import { checksum } from '../files/document-reader.ts'
import { decodeLine } from '../journal/journal-line.ts'
import { type Migrations, migrateRecord } from '../migrations.ts'
import { applyChange, emptyState, type RawRecord, type State, toChange } from '../state.ts'
import type { DatabaseAddress } from './database-address.ts'
import { DatabaseError } from './database-error.ts'
import type { DatabaseSession } from './database-session.ts'

/** Number of snapshot parts, and of journal lines, in one query. */
const partsAtOnce = 64
const linesAtOnce = 10_000

export interface DatabaseState {
  state: State
  /** Number of the last line. */
  last: number
  /** Term in which the last line was stored (see `termOf`); undefined: only a snapshot holds the line. */
  lastTerm: string | undefined
  /** Number of the last line that the snapshot contains. */
  snapshotSeq: number
  roomNumber: number
  /** Size of the lines after the snapshot, in bytes. */
  journalBytes: number
  snapshotBytes: number
  /** Time of the snapshot, in milliseconds since the epoch; 0: no snapshot. */
  snapshotAt: number
  /** Number of confirmed lines that are missing or unreadable. */
  lost: number
  /** Whether the newest snapshot was incomplete, so that the previous snapshot was used. */
  fellBack: boolean
  /** The oldest and newest schema versions of the records read. */
  oldest: number
  newest: number
}

interface SnapshotRow {
  id: string
  seq: string
  records: number
  room_number: string
  written_at: string
  bytes: string
  parts: number
}

/**
 * Reads the newest complete snapshot and the journal after it. No other process may store meanwhile, unless this runs
 * in a transaction with one consistent state.
 * @throws DatabaseError when no snapshot is complete, and the journal lacks its first lines
 */
export async function readSiteState(
  session: DatabaseSession,
  known: Migrations,
  { shown }: DatabaseAddress,
): Promise<DatabaseState> {
  const { rows } = await session.query<SnapshotRow>('select * from roomdesk_snapshot order by id desc')
  const first = await session.query<{ seq: string | null }>(
    'select min(seq) as seq from roomdesk_journal where seq > 0',
  )
  for (const [index, snapshot] of rows.entries()) {
    const reader = new StateReader(session, known)
    if (!(await reader.snapshot(snapshot))) continue
    return { ...(await reader.journal()), fellBack: index > 0 }
  }
  // Without a snapshot, the journal must start with the first line.
  if (rows.length > 0 && Number(first.rows[0]?.seq ?? 0) !== 1)
    throw new DatabaseError(
      `The snapshots in the database ${shown} are damaged: put the database back from a backup of its own.`,
    )
  return { ...(await new StateReader(session, known).journal()), fellBack: rows.length > 0 }
}

/** Returns a text that identifies a term. Terms of older versions of Roomdesk have no id: the epoch identifies them. */
export function termOf({ epoch, term }: { epoch: string; term: string | null }): string {
  return term === null ? epoch : `${epoch} ${term}`
}

/** Applies a snapshot, then the journal after it, to an empty state. */
class StateReader {
  readonly #session: DatabaseSession
  readonly #known: Migrations
  readonly #found: Omit<DatabaseState, 'fellBack'>

  constructor(session: DatabaseSession, known: Migrations) {
    this.#session = session
    this.#known = known
    this.#found = {
      state: emptyState(),
      last: 0,
      lastTerm: undefined,
      snapshotSeq: 0,
      roomNumber: 0,
      journalBytes: 0,
      snapshotBytes: 0,
      snapshotAt: 0,
      lost: 0,
      oldest: known.current,
      newest: known.current,
    }
  }

  /** @returns false: the snapshot is damaged */
  async snapshot({ id, seq, records, room_number, written_at, bytes, parts }: SnapshotRow): Promise<boolean> {
    let read = 0
    while (read < parts) {
      const { rows } = await this.#session.query<{ part: number; checksum: string; lines: string }>(
        `select part, checksum, lines from roomdesk_snapshot_part where snapshot = $1 and part >= $2 order by part limit ${partsAtOnce}`,
        [id, read],
      )
      if (rows.length === 0) return false
      for (const row of rows) {
        if (row.part !== read || row.checksum !== checksum(crc32(row.lines))) return false
        for (const line of row.lines.split('\n')) if (line !== '') this.#apply(recordOf(line), records)
        read++
      }
    }
    const found = this.#found
    found.last = Number(seq)
    found.snapshotSeq = found.last
    found.roomNumber = Math.max(found.roomNumber, Number(room_number))
    found.snapshotBytes = Number(bytes)
    found.snapshotAt = Number(written_at)
    this.#note(records)
    return true
  }

  async journal(): Promise<Omit<DatabaseState, 'fellBack'>> {
    const found = this.#found
    for (;;) {
      const { rows } = await this.#session.query<{
        seq: string
        epoch: string
        term: string | null
        records: number
        line: string
      }>(
        `select seq, epoch, term, records, line from roomdesk_journal where seq >= $1 order by seq limit ${linesAtOnce}`,
        [found.last],
        'lines',
      )
      for (const { seq, epoch, term, records, line } of rows) {
        found.lastTerm = termOf({ epoch, term })
        // The line is part of the snapshot, or was the last row of the previous query.
        if (Number(seq) === found.last) continue
        const bytes = Buffer.from(line)
        const decoded = decodeLine(bytes, 0, bytes.length)
        found.lost += Number(seq) - found.last - 1
        found.last = Number(seq)
        found.journalBytes += bytes.length + 1
        this.#note(records)
        if (decoded?.kind === 'changes') for (const record of decoded.changes) this.#apply(record, records)
        else found.lost++
      }
      if (rows.length < linesAtOnce) return found
    }
  }

  /** Records the schema version of the records read. */
  #note(version: number): void {
    const found = this.#found
    found.oldest = Math.min(found.oldest, version)
    found.newest = Math.max(found.newest, version)
  }

  #apply(record: RawRecord, version: number): void {
    const found = this.#found
    const migrated = version === this.#known.current ? [record] : migrateRecord(record, version, this.#known)
    for (const each of migrated) {
      const change = toChange(each)
      if (change === undefined) continue
      applyChange(found.state, change)
      if (change.collection === 'rooms') found.roomNumber = Math.max(found.roomNumber, change.value?.id ?? 0)
    }
  }
}

/** Parses a line of a part whose checksum is valid. */
function recordOf(line: string): RawRecord {
  const [collection, key, value] = JSON.parse(line) as [string, string, object]
  return { collection, key, value }
}
