import type { Session } from '../postgres/database-session.ts'
import { termOf } from '../postgres/read-state.ts'
import { head } from './controller-rows.ts'
import type { Term } from './leader.ts'

/** Terms that the database keeps. */
const keptTerms = 1_000

const begin = `with h as (${head}),
  noted as (
    insert into roomdesk_term as t (term, epoch, after_seq) select $1, $2::bigint, greatest(h.seq, $3::bigint) from h
    on conflict (term) do update set after_seq = excluded.after_seq),
  old as (delete from roomdesk_term where epoch <= $2::bigint - ${keptTerms})
  select seq from h`

/**
 * Stores with which line a term begins, before the first one is stored. A leader with confirmed lines in memory that the database lacks stores them again: they count as lines of the terms before.
 * @param last number of the last line in memory
 * @returns number of the last stored line
 */
export async function beginTerm(session: Session, { epoch, id }: Term, last: number): Promise<number> {
  const { rows } = await session.query<{ seq: string }>(begin, [id, epoch, last])
  return Number(rows[0]?.seq)
}

/** A term of the stored history. */
export interface StoredTerm {
  /** See `termOf`. */
  term: string
  /** Number of the line before its first one. */
  after: number
}

/** Reads the terms that the database knows, the oldest first. */
export async function storedTerms(session: Session): Promise<StoredTerm[]> {
  const { rows } = await session.query<{ epoch: string; term: string; after: string }>(
    'select epoch, term, after_seq as after from roomdesk_term order by epoch',
  )
  return rows.map(({ epoch, term, after }) => ({ term: termOf({ epoch, term }), after: Number(after) }))
}
