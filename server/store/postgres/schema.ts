import { clusterTimes } from '../election/timings.ts'
import { type Migrations, StoreVersionError } from '../migrations.ts'
import { isProof, type Sealer } from '../sealer.ts'
import { uuid } from '../system/system.ts'
import { monotonic, sleepOn } from '../system/time.ts'
import type { DatabaseAddress } from './database-address.ts'
import { DatabaseError, NewerTablesError } from './database-error.ts'
import type { DatabaseSession } from './database-session.ts'
import { isForbidden, isLocked, mendOf, messageOf } from './server-answers.ts'

/**
 * The tables, by version. Each step leads to the next version, which older programs cannot use. Journal lines and
 * records have the same form as in files.
 * - `roomdesk_site`: one row, the identity of the site.
 * - `roomdesk_leader`: one row, the controller that may store. A takeover raises `epoch`, which fences all earlier
 *   leaders. Contains the end of the lease (`renewed_at` null: no lease, the lock alone proves the leadership), and the
 *   named successor. `reads_ms`: validity of the last proof of the leader. `room_numbers`: highest reserved number.
 * - `roomdesk_controller`: all controllers; each writes its own row. `folder`: the data folder. `heeds_reads` equals
 *   `since` if the program of the controller waits for `reads_ms` before it leads.
 * - `roomdesk_journal`: one line per transaction, without gaps, with its term (null: stored by a version without
 *   terms).
 * - `roomdesk_term`: the last terms, each with the number of the line before its first line. Shows which term stored a
 *   line that is already part of a snapshot.
 * - `roomdesk_snapshot`: all records up to a line, in parts of about 128 KB.
 * - `roomdesk_event`: the event log of the site, one line per entry. `roomdesk_event_head`: the log's seal and its size
 *   in bytes. `roomdesk_event_source`: the last entry that was copied from each controller's own log.
 * - `roomdesk_backup`: the backups of the site, each a compressed archive in parts. `gone_at`: the backup was deleted
 *   together with its parts.
 *
 * If a database is restored to an older state, epochs repeat. Terms never repeat: each raise of the epoch has a new
 * `term`.
 */
const steps: readonly string[] = [
  `create table roomdesk_site (
     id smallint primary key check (id = 1),
     site uuid not null,
     tables integer not null,
     records integer not null,
     key_proof text not null,
     moved_to text not null default '',
     moved_at timestamptz
   );
   create table roomdesk_leader (
     id smallint primary key check (id = 1),
     epoch bigint not null,
     holder uuid not null,
     name text not null,
     since timestamptz not null
   );
   create table roomdesk_journal (
     seq bigint primary key,
     epoch bigint not null,
     records integer not null,
     at timestamptz not null default now(),
     line text not null
   );
   create table roomdesk_snapshot (
     id bigint generated always as identity primary key,
     seq bigint not null,
     records integer not null,
     room_number bigint not null,
     written_at bigint not null,
     bytes bigint not null,
     parts integer not null
   );
   create table roomdesk_snapshot_part (
     snapshot bigint not null references roomdesk_snapshot on delete cascade,
     part integer not null,
     checksum text not null,
     lines text not null,
     primary key (snapshot, part)
   )`,
  `alter table roomdesk_leader
     add column controller uuid,
     add column renewed_at timestamptz,
     add column lease_ms integer not null default 0,
     add column successor uuid,
     add column successor_until timestamptz;
   create table roomdesk_controller (
     id uuid primary key,
     name text not null,
     version text not null,
     place jsonb not null,
     applied bigint not null,
     behind bigint not null,
     behind_ms bigint not null,
     seen_at timestamptz not null,
     since timestamptz not null
   )`,
]

/**
 * Additions to the tables that older programs with the same table version tolerate. A site is upgraded one controller
 * at a time, and downgraded in the same way.
 * Each addition may run twice, and rewrites no table: a new column may be null, or has a constant default (PostgreSQL
 * documentation, ALTER TABLE).
 */
const additions: readonly string[] = [
  `alter table roomdesk_site add column if not exists additions integer not null default 0;
   alter table roomdesk_leader add column if not exists term uuid, add column if not exists room_numbers bigint not null default 0;
   alter table roomdesk_journal add column if not exists term uuid`,
  'alter table roomdesk_controller add column if not exists folder text',
  `create table if not exists roomdesk_event (seq bigint primary key, line text not null);
   create table if not exists roomdesk_event_head (
     id smallint primary key check (id = 1),
     head text not null default '',
     proof text not null default '',
     bytes bigint not null default 0
   );
   create table if not exists roomdesk_event_source (
     controller uuid primary key,
     seq bigint not null,
     hash text not null,
     at bigint not null
   )`,
  `create table if not exists roomdesk_backup (
     name text primary key,
     bytes bigint not null,
     kept boolean not null,
     uploaded boolean not null,
     proof text not null,
     gone_at timestamptz
   );
   create table if not exists roomdesk_backup_part (
     backup text not null references roomdesk_backup on delete cascade,
     part integer not null,
     content bytea not null,
     primary key (backup, part)
   )`,
  `alter table roomdesk_leader add column if not exists reads_ms integer not null default 0;
   alter table roomdesk_controller add column if not exists heeds_reads timestamptz`,
  `create table if not exists roomdesk_term (
     term uuid primary key,
     epoch bigint not null,
     after_seq bigint not null
   )`,
  // When events are copied, those of the same change are looked up: see `linesOfChanges`. The index omits lines without a change.
  `create index if not exists roomdesk_event_change on roomdesk_event ((substring(line from '"change":"([^"]+)"')))
     where line like '%"change":"%'`,
]

/** First half of the key of the advisory lock that is held while tables are created; the schema is the second half. */
const tablesLock = 0x524454

interface SiteRow {
  site: string
  /** Version of the tables. */
  tables: number
  /** Number of additions to the tables. */
  additions: number
  /** Highest schema version of a record. */
  records: number
  /** Proof that can only be derived from `site` with the site's key. */
  key_proof: string
  /** Place to which the site was moved; empty: not moved. */
  moved_to: string
}

/** Returns the row of the site; undefined: the database holds no site. Read-only. */
export async function readSiteRow(session: DatabaseSession): Promise<SiteRow | undefined> {
  const there = await session.query<{ there: boolean }>(`select to_regclass('roomdesk_site') is not null as there`)
  if (there.rows[0]?.there !== true) return undefined
  const { rows } = await session.query<SiteRow>(
    `select site, tables, coalesce((to_jsonb(s) ->> 'additions')::integer, 0) as additions, records, key_proof, moved_to from roomdesk_site as s`,
  )
  return rows[0]
}

/** @throws NewerTablesError when a newer program has created the tables */
export function checkTables(version: number, { shown }: DatabaseAddress): void {
  if (version > steps.length)
    throw new NewerTablesError(
      `The database ${shown} was set up by a newer Roomdesk (its tables have version ${version}, this one knows ${steps.length}): nothing was touched, start the newer one.`,
    )
}

/**
 * Upgrades the tables to this program's version, while other controllers may use them.
 * @throws NewerTablesError; DatabaseError when the tables cannot be created, or another connection locks them too long
 */
export async function bringTables(session: DatabaseSession, address: DatabaseAddress): Promise<void> {
  const there = await readTables(session)
  checkTables(there.tables, address)
  if (there.tables === steps.length && there.additions >= additions.length) return
  const key = `${tablesLock}, hashtext(coalesce(current_schema(), ''))`
  // Processes upgrade the tables one at a time: each transaction begins after the previous one has ended.
  await session.query(`select pg_advisory_lock(${key})`)
  const deadline = monotonic() + clusterTimes.tables
  try {
    while (!(await makeTables(session, address, monotonic() > deadline))) await sleepOn(clusterTimes.betweenTables)
  } finally {
    if (session.lost === undefined) await session.query(`select pg_advisory_unlock(${key})`)
  }
}

/**
 * Creates missing tables and additions. Waits for a lock only briefly, because all later users of a table would queue
 * behind this request (PostgreSQL documentation, 13.3.1).
 * @param last whether to throw if another connection locks a table
 * @returns false: another connection locks a table, for instance a pg_dump
 */
async function makeTables(session: DatabaseSession, { shown }: DatabaseAddress, last: boolean): Promise<boolean> {
  try {
    await session.query(`begin; set local lock_timeout = ${clusterTimes.tablesLock}`)
    const there = await readTables(session)
    const missing = [...steps.slice(there.tables), ...additions.slice(there.additions)]
    const [tables, added] = [steps.length, additions.length]
    if (missing.length > 0)
      await session.query(`${missing.join(';\n')};\nupdate roomdesk_site set tables = ${tables}, additions = ${added}`)
    await session.query('commit')
    return true
  } catch (error) {
    if (session.lost !== undefined) throw error
    await session.query('rollback')
    const held = isLocked(error)
    if (held && !last) return false
    const right = isForbidden(error)
      ? `the database must belong to its user, or let them create tables (${await missingGrant(session)}).`
      : held
        ? 'another connection has used them for long: let a pg_dump come to its end, or end the connection.'
        : mendOf(error)
    throw new DatabaseError(`The tables cannot be made in the database ${shown} (${messageOf(error)}): ${right}`, {
      cause: error,
    })
  }
}

async function missingGrant(session: DatabaseSession): Promise<string> {
  const { rows } = await session.query<{ schema: string; user: string }>(
    'select quote_ident(current_schema()) as schema, quote_ident(current_user) as user',
  )
  const [{ schema, user } = { schema: 'public', user: '…' }] = rows
  return `grant create on schema ${schema} to ${user}`
}

/** Version of the tables and number of additions, for the row of a new site. */
export const newTables: Tables = { tables: steps.length, additions: additions.length }

type Tables = Pick<SiteRow, 'tables' | 'additions'>

async function readTables(session: DatabaseSession): Promise<Tables> {
  const site = await readSiteRow(session)
  if (site !== undefined) return site
  // If a start was interrupted between creating the tables and the site's row, the tables are empty.
  const { rows } = await session.query<Tables>(
    `select case when to_regclass('roomdesk_controller') is not null then 2 when to_regclass('roomdesk_site') is not null then 1 else 0 end as tables,
       (exists (select 1 from pg_attribute where attrelid = to_regclass('roomdesk_site') and attname = 'additions'))::integer as additions`,
  )
  return rows[0] ?? { tables: 0, additions: 0 }
}

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
