import { head } from '../election/controller-rows.ts'
import type { Term } from '../election/leader.ts'
import { type Migrations, StoreVersionError } from '../migrations.ts'
import { isProof, type Sealer } from '../sealer.ts'
import { uuid } from '../system/random.ts'
import type { DatabaseAddress } from './database-address.ts'
import { DatabaseError } from './database-error.ts'
import type { DatabaseSession } from './database-session.ts'
import { termOf } from './read-state.ts'
import { newTables, readSiteRow, type SiteRow } from './schema.ts'

export interface SiteCheck {
  address: DatabaseAddress
  sealer: Sealer
  migrations: Migrations
  /** `site here`: a site that was moved away is rejected; `moved site too`: such a site is accepted. */
  take: 'site here' | 'moved site too'
}

/** Checks the site in the database. @throws DatabaseError, StoreVersionError when this program cannot run the site */
export function checkSite(found: SiteRow, { address: { shown }, sealer, migrations, take }: SiteCheck): void {
  if (found.records > migrations.current)
    throw new StoreVersionError([{ file: `the database ${shown}`, version: found.records }], migrations.current)
  if (!isProof(found.key_proof, sealer.proof('database', found.site)))
    throw new DatabaseError(
      `The database ${shown} holds a site whose secrets were sealed with another key: copy the seal.key of a controller of that site into the data folder, or name it with --seal-key; or name another database.`,
    )
  if (found.moved_to !== '' && take === 'site here')
    throw new DatabaseError(
      `The site in the database ${shown} was moved to ${found.moved_to}: start with that, or move it back (--move-store).`,
    )
}

/**
 * Checks the site in the database, or creates a site if there is none. The caller must hold the lock.
 * @throws the errors of `checkSite`
 */
export async function settleSite(
  session: DatabaseSession,
  check: SiteCheck,
): Promise<{ fresh: boolean; moved: boolean }> {
  const found = await readSiteRow(session)
  if (found !== undefined) {
    checkSite(found, check)
    return { fresh: false, moved: found.moved_to !== '' }
  }
  const site = uuid()
  const { tables, additions } = newTables
  await session.query(
    'insert into roomdesk_site (id, site, tables, additions, records, key_proof) values (1, $1, $2, $3, $4, $5)',
    [site, tables, additions, check.migrations.current, check.sealer.proof('database', site)],
  )
  return { fresh: true, moved: false }
}

/** Stores the schema version of records written from now on. */
export async function sayRecords(session: DatabaseSession, { current }: Migrations): Promise<void> {
  await session.query('update roomdesk_site set records = $1 where records <> $1', [current])
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
