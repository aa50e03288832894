import type { DatabaseSession } from '../../store/postgres/database-session.ts'
import type { Sealer } from '../../store/sealer.ts'
import { type LogHead, proveHead, type ProvenHead, type ReadHead, readProvenHead } from '../log-seal.ts'

const purpose = 'event log of the site'

/** The last entry of a controller's own log that was copied to the site's log. */
export interface Source {
  seq: number
  hash: string
  /** Time of the entry, in milliseconds since the epoch. */
  at: number
}

export interface EventRow {
  seq: number
  /** Line of the entry, without a newline. */
  line: string
}

/** State of the log while it is locked. */
export interface LockedLog {
  head: ReadHead
  /** Numbers of the first and the last line; 0: none. */
  first: number
  last: number
  bytes: number
  /** Last entry copied from this controller; undefined: none. */
  source: Source | undefined
}

/**
 * Locks the log until the current transaction ends.
 * @param controller id of the controller whose entries will be added
 */
export async function lockLog(
  session: DatabaseSession,
  sealer: Pick<Sealer, 'proof'>,
  controller: string,
): Promise<LockedLog> {
  await session.query('insert into roomdesk_event_head (id) values (1) on conflict (id) do nothing', [], 'event head')
  const { rows } = await session.query<{
    head: string
    proof: string
    bytes: string
    first: string
    last: string
    seq: string | null
    hash: string | null
    at: string | null
  }>(
    `select h.head, h.proof, h.bytes, coalesce((select min(seq) from roomdesk_event), 0) as first,
       coalesce((select max(seq) from roomdesk_event), 0) as last, s.seq, s.hash, s.at
     from roomdesk_event_head h left join roomdesk_event_source s on s.controller = $1 where h.id = 1 for update of h`,
    [controller],
    'event lock',
  )
  const [row] = rows
  if (row === undefined) throw new Error('The event log of the site has no head.')
  const { head, proof, seq, hash, at } = row
  return {
    head: readHead({ head, proof }, sealer),
    first: Number(row.first),
    last: Number(row.last),
    bytes: Number(row.bytes),
    source: seq === null || hash === null ? undefined : { seq: Number(seq), hash, at: Number(at) },
  }
}

/**
 * Returns the lines of events that were stored with one of these changes. The conditions match the index
 * `roomdesk_event_change`.
 * @param changes ids of the changes
 */
export async function linesOfChanges(session: DatabaseSession, changes: readonly string[]): Promise<string[]> {
  const { rows } = await session.query<{ line: string }>(
    `select line from roomdesk_event where line like '%"change":"%'
       and substring(line from '"change":"([^"]+)"') = any(string_to_array($1::text, E'\\n'))`,
    [changes.join('\n')],
    'event lines of changes',
  )
  return rows.map(({ line }) => line)
}

/** Appends lines in the transaction that holds the lock. */
export async function addRows(
  session: DatabaseSession,
  sealer: Pick<Sealer, 'proof'>,
  { rows, head, controller, source }: { rows: readonly EventRow[]; head: LogHead; controller: string; source: Source },
): Promise<void> {
  const proven = proveHead(head, sealer, purpose)
  await session.query(
    `with added as (
       insert into roomdesk_event (seq, line) select * from unnest($1::bigint[], $2::text[])
     ), copied as (
       insert into roomdesk_event_source (controller, seq, hash, at) values ($3, $4, $5, $6)
       on conflict (controller) do update set seq = $4, hash = $5, at = $6
     )
     update roomdesk_event_head set head = $7, proof = $8, bytes = bytes + $9 where id = 1`,
    [
      rows.map(({ seq }) => seq),
      rows.map(({ line }) => line),
      ...[controller, source.seq, source.hash, source.at],
      ...[proven.head, proven.proof, bytesOf(rows)],
    ],
    'event add',
  )
}

/** Deletes the lines before `head.oldest` in the transaction that holds the lock. */
export async function removeRows(
  session: DatabaseSession,
  sealer: Pick<Sealer, 'proof'>,
  head: LogHead,
  bytes: number,
): Promise<void> {
  const proven = proveHead(head, sealer, purpose)
  await session.query('delete from roomdesk_event where seq < $1', [head.oldest.seq])
  await session.query(
    'update roomdesk_event_head set head = $1, proof = $2, bytes = greatest(0, bytes - $3) where id = 1',
    [proven.head, proven.proof, bytes],
  )
}

/**
 * Reads a range of lines, oldest first.
 * @param range.after number before the first line
 * @param range.to number of the last line; undefined: no limit
 */
export async function readRows(
  session: DatabaseSession,
  { after, to, limit }: { after: number; to?: number; limit: number },
): Promise<EventRow[]> {
  const { rows } = await session.query<{ seq: string; line: string }>(
    'select seq, line from roomdesk_event where seq > $1 and seq <= $2 order by seq limit $3',
    [after, to ?? Number.MAX_SAFE_INTEGER, limit],
    'event forward',
  )
  return rows.map(({ seq, line }) => ({ seq: Number(seq), line }))
}

/** Reads lines before a number, newest first. */
export async function readRowsBack(session: DatabaseSession, before: number, limit: number): Promise<EventRow[]> {
  const { rows } = await session.query<{ seq: string; line: string }>(
    'select seq, line from roomdesk_event where seq < $1 order by seq desc limit $2',
    [before, limit],
    'event back',
  )
  return rows.map(({ seq, line }) => ({ seq: Number(seq), line }))
}

/** Reads the head of the log, and the numbers of its first and last lines. */
export async function readSiteHead(
  session: DatabaseSession,
  sealer: Pick<Sealer, 'proof'>,
): Promise<{ read: ReadHead; first: number; last: number }> {
  const { rows } = await session.query<{ head: string | null; proof: string | null; first: string; last: string }>(
    `select (select head from roomdesk_event_head) as head, (select proof from roomdesk_event_head) as proof,
       coalesce((select min(seq) from roomdesk_event), 0) as first, coalesce((select max(seq) from roomdesk_event), 0) as last`,
    [],
    'event end',
  )
  const { head, proof, first = '0', last = '0' } = rows[0] ?? {}
  const read = readHead({ head: head ?? '', proof: proof ?? '' }, sealer)
  return { read, first: Number(first), last: Number(last) }
}

/** Returns the head of a row; an empty `head` was never written. */
function readHead(stored: ProvenHead, sealer: Pick<Sealer, 'proof'>): ReadHead {
  return stored.head === '' ? { state: 'missing' } : readProvenHead(stored, sealer, purpose)
}

/** Returns the size of lines that counts towards the limit of the log, in bytes. */
export function bytesOf(rows: readonly EventRow[]): number {
  return rows.reduce((sum, { line }) => sum + Buffer.byteLength(line) + 1, 0)
}
