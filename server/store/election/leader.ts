import { hostname } from 'node:os'
import { uuid } from '../system/system.ts'
import { monotonic, sleepOn } from '../system/time.ts'
import type { DatabaseAddress } from '../postgres/database-address.ts'
import { DatabaseInUseError, FencedError } from '../postgres/database-error.ts'
import type { DatabaseSession } from '../postgres/database-session.ts'
import { clusterTimes } from './timings.ts'

/** Number of room numbers reserved by a new leader. A killed leader leaves its reserved numbers unused. */
export const firstBlock = 100

/** First half of the key of the advisory lock that a leader holds; the schema of the tables is the second half. */
const lockClass = 0x52444c

/**
 * Channel for notifications between the controllers of a site about new lines and leaders. Notifications are only
 * hints.
 */
export const channel = 'roomdesk'
/** SQL that sends a notification with the schema, which identifies the site. */
export const hint = `pg_notify('${channel}', current_schema()::text)`

/** Stored row of the leader. */
export interface Leader {
  /** Id of this opening of the store, unchanged by reconnections. */
  holder: string
  /** Display name. */
  name: string
  /** Id of the controller; null: a tool with exclusive access to the site. */
  controller: string | null
  /** Milliseconds without a renewal after which the leader counts as frozen; 0: never. */
  leaseMs: number
}

/**
 * One term of a leader. Epochs repeat after the database was restored to an older state; ids never repeat. Both are
 * checked at each write, which fences earlier leaders.
 */
export interface Term {
  epoch: string
  id: string
}

/** The term of a leader, with the right to store for the site. */
export interface WonTerm {
  leader: Leader
  term: Term
  /** Highest room number reserved for the leader. */
  roomNumbers: number
}

export interface RaisedTerm extends WonTerm {
  /**
   * Validity of the last proof of the previous leader, in milliseconds; 0: the previous leader's version does not store
   * it.
   */
  readsBefore: number
  /** Whether every controller that reported in the last day waits for the validity of proofs in the leader's row. */
  heedReads: boolean
}

/** SQL condition that selects the row of the leader while this term lasts. */
export const ofTerm = (epoch: string, id: string): string => `id = 1 and epoch = ${epoch} and term = ${id}`

/** Returns the leader row of a tool, which has exclusive access while its connection lasts. */
export function toolOf(holder: string): Leader {
  return { holder, name: `process ${process.pid} of ${hostname()}`, controller: null, leaseMs: 0 }
}

/** Second half of the lock's key: sites in different schemas of one database have separate locks. */
const lockObject = `hashtext(coalesce(current_schema(), ''))`
/** Query for the connections that hold the lock. */
const lockHolders = `select pid from pg_locks where locktype = 'advisory' and classid = ${lockClass}
  and objid = (${lockObject}::bigint & 4294967295)::oid and granted and pid <> pg_backend_pid()
  and database = (select oid from pg_database where datname = current_database())`

/**
 * Takes the lock that shows that a leader is running: the database releases the lock when the connection ends.
 * @throws DatabaseInUseError while another controller runs on the site
 */
export async function takeLock(session: DatabaseSession, { shown }: DatabaseAddress): Promise<void> {
  const deadline = monotonic() + clusterTimes.lock
  while (!(await tryLock(session))) {
    if (monotonic() > deadline) {
      // The name only improves the message.
      const who = await leaderName(session).catch(() => '')
      throw new DatabaseInUseError(
        `The site in the database ${shown} is in use by another controller${who === '' ? '' : ` (${who})`}: stop it first, or name another database.`,
      )
    }
    await sleepOn(clusterTimes.lockAttempt)
  }
}

/** Takes the lock, if it is free. @returns whether this connection has taken the lock */
export async function tryLock(session: DatabaseSession): Promise<boolean> {
  const { rows } = await session.query<{ ours: boolean }>(
    `select pg_try_advisory_lock(${lockClass}, ${lockObject}) as ours`,
    [],
    'try',
  )
  return rows[0]?.ours === true
}

/** Releases the lock, and notifies waiting controllers. */
export async function releaseLock(session: DatabaseSession): Promise<void> {
  await session.query(`select pg_advisory_unlock(${lockClass}, ${lockObject}), ${hint}`)
}

const allHeedReads = `select coalesce(bool_and(coalesce(c.heeds_reads = c.since, false)), true) from roomdesk_controller c
       where c.seen_at > clock_timestamp() - interval '1 day'`

/**
 * Makes this controller the leader: from now on, earlier leaders cannot store. Resolves when the pending statements of
 * earlier leaders are committed or rejected.
 */
export async function lead(session: DatabaseSession, leader: Leader): Promise<RaisedTerm> {
  const id = uuid()
  // `reads_ms` keeps the value of the previous leader until the first renewal.
  const { rows } = await session.commit<{ epoch: string; room_numbers: string; reads_ms: number; heed_reads: boolean }>(
    `insert into roomdesk_leader as l (id, epoch, holder, name, since, controller, renewed_at, lease_ms, term, room_numbers)
     values (1, 1, $1, $2, clock_timestamp(), $3, ${renewed('$4')}, $4, $5, $6)
     on conflict (id) do update set epoch = l.epoch + 1, holder = $1, name = $2, since = clock_timestamp(), controller = $3,
       renewed_at = ${renewed('$4')}, lease_ms = $4, successor = null, successor_until = null, term = $5,
       room_numbers = l.room_numbers + $6
     returning epoch, room_numbers, reads_ms, (${allHeedReads}) as heed_reads, ${hint}`,
    [leader.holder, leader.name, leader.controller, leader.leaseMs, id, firstBlock],
  )
  const {
    epoch = '',
    room_numbers: roomNumbers = 0,
    reads_ms: readsBefore = 0,
    heed_reads: heedReads = false,
  } = rows[0] ?? {}
  return { leader, term: { epoch, id }, roomNumbers: Number(roomNumbers), readsBefore, heedReads }
}

const renewed = (leaseMs: string): string => `case when ${leaseMs}::integer > 0 then clock_timestamp() end`

/**
 * Continues to lead with a new connection. Raises the epoch, so that nothing from the previous connection can be stored
 * afterwards.
 * @param roomNumbers highest reserved room number: a restored database may have a lower number
 * @throws FencedError when another controller has taken over; Error when the lock cannot be taken, because without the
 * lock other controllers would assume that the site has no leader
 */
export async function leadOn(session: DatabaseSession, { leader }: WonTerm, roomNumbers: number): Promise<WonTerm> {
  const id = uuid()
  const { rows } = await session.commit<{ epoch: string }>(
    `update roomdesk_leader set epoch = epoch + 1, term = $2, room_numbers = greatest(room_numbers, $3),
       renewed_at = ${renewed('lease_ms')}, successor = null
     where id = 1 and holder = $1 returning epoch, ${hint}`,
    [leader.holder, id, roomNumbers],
  )
  const epoch = rows[0]?.epoch
  if (epoch === undefined) throw await fencedError(session)
  // The lock is held by an old connection of this controller, which the server has not closed yet, or by a controller
  // that was about to take over.
  const deadline = monotonic() + clusterTimes.lock
  while (!(await tryLock(session))) {
    if (monotonic() > deadline)
      throw new Error('this controller leads, but another connection holds the lock of the site')
    const still = `exists (select 1 from roomdesk_leader where ${ofTerm('$1', '$2')})`
    await session.query(`select pg_terminate_backend(pid) from (${lockHolders}) as h where ${still}`, [epoch, id])
    await sleepOn(clusterTimes.lockAttempt)
  }
  return { leader, term: { epoch, id }, roomNumbers }
}

/**
 * Releases the lease: the next lock holder may answer at once, so nothing may be answered from memory afterwards.
 * @param roomNumbers the highest assigned number; no room may get a higher one afterwards
 */
export async function letGo(session: DatabaseSession, { epoch, id }: Term, roomNumbers: number): Promise<void> {
  await session.query(`update roomdesk_leader set renewed_at = null, room_numbers = $3 where ${ofTerm('$1', '$2')}`, [
    epoch,
    id,
    roomNumbers,
  ])
}

/**
 * Renews the lease. The commit is confirmed like that of a change, because a primary without its synchronous standbys
 * may have been replaced.
 * @param readsMs validity of this proof and all earlier proofs from now on, in milliseconds: a takeover waits for this
 * time
 * @returns false: another controller leads
 */
export async function renewLease(session: DatabaseSession, { epoch, id }: Term, readsMs: number): Promise<boolean> {
  const { rowCount } = await session.commit(
    `update roomdesk_leader set renewed_at = clock_timestamp(), reads_ms = $3 where ${ofTerm('$1', '$2')}`,
    [epoch, id, readsMs],
    'renew',
  )
  return rowCount === 1
}

/**
 * Names the successor, and releases the lease: the next lock holder may answer at once, so nothing may be answered from
 * memory afterwards.
 * @param forMs time for which other controllers wait for the successor, in milliseconds
 * @param roomNumbers the highest assigned number; no room may get a higher one afterwards
 * @returns false: another controller leads
 */
export async function nameSuccessor(
  session: DatabaseSession,
  { epoch, id }: Term,
  controller: string,
  forMs: number,
  roomNumbers: number,
): Promise<boolean> {
  const { rowCount } = await session.commit(
    `update roomdesk_leader set successor = $3, successor_until = clock_timestamp() + $4 * interval '1 ms', renewed_at = null,
       room_numbers = $5 where ${ofTerm('$1', '$2')}`,
    [epoch, id, controller, forMs, roomNumbers],
  )
  return rowCount === 1
}

/**
 * Closes the connections of a leader whose lease has expired, so that its lock becomes free. A leader whose statement
 * is being executed is not frozen: the database is slow.
 * @throws the error of the database when the database user lacks the privilege
 */
export async function endFrozenLeader(session: DatabaseSession): Promise<void> {
  const over = `exists (select 1 from roomdesk_leader where id = 1 and renewed_at + lease_ms * interval '1 ms' < clock_timestamp())`
  const busy = `a.state = 'active' and coalesce(a.wait_event_type, '') <> 'Client' and a.query_start > clock_timestamp() - interval '5 s'`
  await session.query(
    `select pg_terminate_backend(a.pid) from pg_stat_activity a join (${lockHolders}) h using (pid) where ${over} and not coalesce(${busy}, false)`,
  )
  // An open transaction that writes a snapshot blocks the raising of the epoch.
  await session.query(
    `select pg_terminate_backend(a.pid) from pg_stat_activity a join pg_locks l using (pid)
     where l.relation = 'roomdesk_leader'::regclass and l.mode in ('RowShareLock', 'RowExclusiveLock')
       and a.state = 'idle in transaction' and a.pid <> pg_backend_pid() and ${over}`,
  )
}

/** Returns the error for a takeover by another controller, with the name of that controller. */
export async function fencedError(session: DatabaseSession): Promise<FencedError> {
  return new FencedError(await leaderName(session))
}

async function leaderName(session: DatabaseSession): Promise<string> {
  const { rows } = await session.query<{ name: string }>('select name from roomdesk_leader')
  return rows[0]?.name ?? ''
}
