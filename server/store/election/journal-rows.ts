import type { DatabaseSession } from '../postgres/database-session.ts'
import { termOf } from '../postgres/read-state.ts'
import type { Term } from './leader.ts'

/** Query for the number of the last stored line. */
export const head = `select coalesce(greatest((select max(seq) from roomdesk_journal), (select max(seq) from roomdesk_snapshot)), 0) as seq`

/** Number of lines per query. */
export const linesAtOnce = 2_000

export interface LineRow {
  seq: string
  epoch: string
  term: string | null
  records: number
  line: string
}

/** Reads lines from the number `seq` on. The line with this number has an empty text. */
export async function linesFrom(session: DatabaseSession, seq: number): Promise<LineRow[]> {
  const { rows } = await session.query<LineRow>(
    `select seq, epoch, term, records, case when seq = $1 then '' else line end as line
     from roomdesk_journal where seq >= $1 order by seq limit ${linesAtOnce}`,
    [seq],
    'follow',
  )
  return rows
}

/** Reads the terms of the last lines up to a number, the newest first. */
export async function originsUpTo(session: DatabaseSession, seq: number): Promise<{ seq: number; term: string }[]> {
  const { rows } = await session.query<Pick<LineRow, 'seq' | 'epoch' | 'term'>>(
    `select seq, epoch, term from roomdesk_journal where seq > 0 and seq <= $1 order by seq desc limit ${linesAtOnce}`,
    [seq],
  )
  return rows.map((row) => ({ seq: Number(row.seq), term: termOf(row) }))
}

/** Reads the number of the last line stored in the journal or in a snapshot. */
export async function lastStored(session: DatabaseSession): Promise<number> {
  const { rows } = await session.query<{ seq: string }>(head)
  return Number(rows[0]?.seq)
}

/** Number of terms that the database keeps. */
const keptTerms = 1_000

const begin = `with h as (${head}),
  noted as (
    insert into roomdesk_term as t (term, epoch, after_seq) select $1, $2::bigint, greatest(h.seq, $3::bigint) from h
    on conflict (term) do update set after_seq = excluded.after_seq),
  old as (delete from roomdesk_term where epoch <= $2::bigint - ${keptTerms})
  select seq from h`

/**
 * Stores the line number at which a term begins, before the first line of the term is stored. If the database lacks
 * confirmed lines, the leader stores these lines again, and they count as lines of earlier terms.
 * @param last number of the last line in memory
 * @returns number of the last stored line
 */
export async function beginTerm(session: DatabaseSession, { epoch, id }: Term, last: number): Promise<number> {
  const { rows } = await session.query<{ seq: string }>(begin, [id, epoch, last])
  return Number(rows[0]?.seq)
}

/** A term of the stored history. */
interface StoredTerm {
  /** See `termOf`. */
  term: string
  /** Number of the line before the first line of the term. */
  after: number
}

/** Reads the terms stored in the database, the oldest first. */
export async function storedTerms(session: DatabaseSession): Promise<StoredTerm[]> {
  const { rows } = await session.query<{ epoch: string; term: string; after: string }>(
    'select epoch, term, after_seq as after from roomdesk_term order by epoch',
  )
  return rows.map(({ epoch, term, after }) => ({ term: termOf({ epoch, term }), after: Number(after) }))
}
