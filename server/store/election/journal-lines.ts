import type { DatabaseSession } from '../postgres/database-session.ts'
import { termOf } from '../postgres/read-state.ts'
import { head } from './controller-rows.ts'

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
