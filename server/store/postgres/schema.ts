import type { DatabaseAddress } from './database-address.ts'
import { monotonic, sleep } from '../system/time.ts'
import { clusterTimes } from '../election/timings.ts'
import { DatabaseError, NewerTablesError } from './database-error.ts'
import type { Session } from './database-session.ts'
import { isForbidden, isLocked, mendOf, messageOf } from './server-answers.ts'

/**
 * The tables, version by version; each step leads to the next, which programs of the version before cannot use. Journal lines and records are those of the files, so a record is the same in both.
 * `roomdesk_site`: one row, identity of the site. `roomdesk_leader`: one row, the controller that may store; a take-over raises `epoch`, which fences all earlier leaders; it has
 * the end of the lease (`renewed_at` null: no lease, the lock alone counts), and the successor that was named. `roomdesk_controller`: all controllers, each writes its own row;
 * `folder` is the data folder that it belongs to.
 * `reads_ms`: how long the last proof of the leader counts; `heeds_reads` of a controller equals `since` if its program waits for that long before it leads.
 * An epoch comes again when a database was put back to an older state; `term` does not: each raise of the epoch has its own. `room_numbers`: rooms have numbers up to this.
 * `roomdesk_journal`: one line for each transaction, without gaps, with the term it was stored in (null: stored by a Roomdesk that knew none).
 * `roomdesk_term`: the last terms, each with the number of the line before its first one: shows also behind a snapshot which term stored a line.
 * `roomdesk_snapshot`: all records up to a line, in parts of some 128 KB.
 * `roomdesk_event`: the event log of the site, one line for each entry; `roomdesk_event_head`: its seal, and its bytes; `roomdesk_event_source`: the last entry of each controller's own
 * log that is in it. `roomdesk_backup`: the backups of the site, each a compressed archive in parts; `gone_at`: it was deleted, and its parts are gone.
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
 * Additions to the tables that programs of the same version can live with that do not know them: a site is upgraded one controller after the other, and taken back the same way.
 * Each may run twice, and rewrites no table: a column may be null, or has a default that does not change (PostgreSQL documentation, ALTER TABLE).
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
  // Copying events looks for those of the same change: see `linesOfChanges`. Lines without a change are not in it.
  `create index if not exists roomdesk_event_change on roomdesk_event ((substring(line from '"change":"([^"]+)"')))
     where line like '%"change":"%'`,
]

/** First half of the key of the advisory lock held while tables are made; the schema is the other half. */
const tablesLock = 0x524454

/** Row of a site. */
export interface SiteRow {
  site: string
  /** Version of the tables. */
  tables: number
  /** Number of additions to them. */
  additions: number
  /** Highest schema version of a record. */
  records: number
  /** Proof that only the holder of the site's key can derive from `site`. */
  key_proof: string
  /** Place that the site was moved to; empty: it is here. */
  moved_to: string
}

/** The row of the site that is here; undefined: the database holds none. Reads only. */
export async function readSiteRow(session: Session): Promise<SiteRow | undefined> {
  const there = await session.query<{ there: boolean }>(`select to_regclass('roomdesk_site') is not null as there`)
  if (there.rows[0]?.there !== true) return undefined
  const { rows } = await session.query<SiteRow>(
    `select site, tables, coalesce((to_jsonb(s) ->> 'additions')::integer, 0) as additions, records, key_proof, moved_to from roomdesk_site as s`,
  )
  return rows[0]
}

/** @throws NewerTablesError when a newer program has set up the tables */
export function checkTables(version: number, { shown }: DatabaseAddress): void {
  if (version > steps.length)
    throw new NewerTablesError(
      `The database ${shown} was set up by a newer Roomdesk (its tables have version ${version}, this one knows ${steps.length}): nothing was touched, start the newer one.`,
    )
}

/**
 * Brings the tables to this program's version, while others may use them.
 * @throws NewerTablesError; DatabaseError when they may not be made, or somebody holds them too long
 */
export async function bringTables(session: Session, address: DatabaseAddress): Promise<void> {
  const there = await readTables(session)
  checkTables(there.tables, address)
  if (there.tables === steps.length && there.additions >= additions.length) return
  const key = `${tablesLock}, hashtext(coalesce(current_schema(), ''))`
  // One after the other: what the first has made, the next ones find in a transaction that begins after it.
  await session.query(`select pg_advisory_lock(${key})`)
  const deadline = monotonic() + clusterTimes.tables
  try {
    while (!(await makeTables(session, address, monotonic() > deadline))) await sleep(clusterTimes.betweenTables)
  } finally {
    if (session.lost === undefined) await session.query(`select pg_advisory_unlock(${key})`)
  }
}

/**
 * Waits for a lock only briefly: all others who want to use a table queue behind who wants to alter it (PostgreSQL documentation, 13.3.1).
 * @param last whether it throws when another holds a table
 * @returns false when another holds a table, for instance a pg_dump
 */
async function makeTables(session: Session, { shown }: DatabaseAddress, last: boolean): Promise<boolean> {
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

async function missingGrant(session: Session): Promise<string> {
  const { rows } = await session.query<{ schema: string; user: string }>(
    'select quote_ident(current_schema()) as schema, quote_ident(current_user) as user',
  )
  const [{ schema, user } = { schema: 'public', user: '…' }] = rows
  return `grant create on schema ${schema} to ${user}`
}

/** The tables' version, and how many additions they have, for the row of a new site. */
export const newTables: Tables = { tables: steps.length, additions: additions.length }

type Tables = Pick<SiteRow, 'tables' | 'additions'>

async function readTables(session: Session): Promise<Tables> {
  const site = await readSiteRow(session)
  if (site !== undefined) return site
  // A start that ended between making the tables and the site's row left them empty.
  const { rows } = await session.query<Tables>(
    `select case when to_regclass('roomdesk_controller') is not null then 2 when to_regclass('roomdesk_site') is not null then 1 else 0 end as tables,
       (exists (select 1 from pg_attribute where attrelid = to_regclass('roomdesk_site') and attname = 'additions'))::integer as additions`,
  )
  return rows[0] ?? { tables: 0, additions: 0 }
}
