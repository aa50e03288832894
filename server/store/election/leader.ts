import { hostname } from 'node:os'
import { uuid } from '../system/random.ts'
import { monotonic, sleep } from '../system/time.ts'
import type { DatabaseAddress } from '../postgres/database-address.ts'
import { DatabaseInUseError, FencedError } from '../postgres/database-error.ts'
import type { Session } from '../postgres/database-session.ts'
import { clusterTimes } from './timings.ts'

/** Room numbers that are reserved by who begins to lead. A leader that is killed leaves a gap of what it had reserved. */
export const firstBlock = 100

/** First half of the key of the advisory lock that a leader holds; the schema of its tables is the other half. */
const lockClass = 0x52444c

/** Channel on which controllers of a site notify each other of a new line or another leader. A notification is a hint only. */
export const channel = 'roomdesk'
/** Notification with the schema, which names the site concerned. */
export const hint = `pg_notify('${channel}', current_schema()::text)`

/** Stored row of the leader. */
export interface Leader {
  /** Names this opening of the store, whatever its connections do. */
  holder: string
  /** As people know it. */
  name: string
  /** Id of the controller; null: a tool, which has the site to itself. */
  controller: string | null
  /** Milliseconds without a renewal after which the leader is taken to be frozen; 0: never. */
  leaseMs: number
}

/** One term of a leader. An epoch comes again when a database was put back to an older state, the id never does: what is stored is fenced by both. */
export interface Term {
  epoch: string
  id: string
}

/** Holder of the right to store for the site. */
export interface WonTerm {
  leader: Leader
  term: Term
  /** Room numbers up to this are reserved for it. */
  roomNumbers: number
}

/** Results of raising the epoch. */
export interface RaisedTerm extends WonTerm {
  /** How long the last proof of the leader before counts, in milliseconds; 0: of a Roomdesk that does not store it. */
  readsBefore: number
  /** Every controller that reported in the last day waits for as long as the leader's row says that a proof counts. */
  heedReads: boolean
}

/** In a statement: the row of the leader, while this term lasts. */
export const ofTerm = (epoch: string, id: string): string => `id = 1 and epoch = ${epoch} and term = ${id}`

/** Somebody who has the site alone, and only while the connection lasts. */
export function toolOf(holder: string): Leader {
  return { holder, name: `process ${process.pid} of ${hostname()}`, controller: null, leaseMs: 0 }
}

/** Sites in schemas of one database have each their own. */
const lockObject = `hashtext(coalesce(current_schema(), ''))`
/** The connections that hold the lock. */
const lockHolders = `select pid from pg_locks where locktype = 'advisory' and classid = ${lockClass}
  and objid = (${lockObject}::bigint & 4294967295)::oid and granted and pid <> pg_backend_pid()
  and database = (select oid from pg_database where datname = current_database())`

/**
 * Takes the lock that tells a living leader from a dead one: it ends with the connection, however that ends.
 * @throws DatabaseInUseError while another controller runs on the site
 */
export async function takeLock(session: Session, { shown }: DatabaseAddress): Promise<void> {
  const deadline = monotonic() + clusterTimes.lock
  while (!(await tryLock(session))) {
    if (monotonic() > deadline) {
      // The name only makes the sentence clearer.
      const who = await leaderName(session).catch(() => '')
      throw new DatabaseInUseError(
        `The site in the database ${shown} is in use by another controller${who === '' ? '' : ` (${who})`}: stop it first, or name another database.`,
      )
    }
    await sleep(clusterTimes.lockAttempt)
  }
}

/** Takes the lock, if nobody has it. */
export async function tryLock(session: Session): Promise<boolean> {
  const { rows } = await session.query<{ ours: boolean }>(
    `select pg_try_advisory_lock(${lockClass}, ${lockObject}) as ours`,
    [],
    'try',
  )
  return rows[0]?.ours === true
}

/** Gives the lock back, and tells those who wait for it. */
export async function releaseLock(session: Session): Promise<void> {
  await session.query(`select pg_advisory_unlock(${lockClass}, ${lockObject}), ${hint}`)
}

const allHeedReads = `select coalesce(bool_and(coalesce(c.heeds_reads = c.since, false)), true) from roomdesk_controller c
       where c.seen_at > clock_timestamp() - interval '1 day'`

/** Makes this one the leader: nobody before can store any more. Resolves when what they were storing is stored, or is not. */
export async function lead(session: Session, leader: Leader): Promise<RaisedTerm> {
  const id = uuid()
  // `reads_ms` stays that of the leader before until the first renewal.
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
 * Leads on by another connection. The epoch is raised, so that nothing of the one before is stored after this.
 * @param roomNumbers up to which room numbers were reserved: the database may have gone back to fewer
 * @throws FencedError when another controller has taken over, Error when the lock cannot be had: without it others believe that nobody leads
 */
export async function leadOn(session: Session, { leader }: WonTerm, roomNumbers: number): Promise<WonTerm> {
  const id = uuid()
  const { rows } = await session.commit<{ epoch: string }>(
    `update roomdesk_leader set epoch = epoch + 1, term = $2, room_numbers = greatest(room_numbers, $3),
       renewed_at = ${renewed('lease_ms')}, successor = null
     where id = 1 and holder = $1 returning epoch, ${hint}`,
    [leader.holder, id, roomNumbers],
  )
  const epoch = rows[0]?.epoch
  if (epoch === undefined) throw await fencedError(session)
  // We are the leader: the lock is held by a connection of ours that the server has not seen end yet, or by somebody who was about to take over.
  const deadline = monotonic() + clusterTimes.lock
  while (!(await tryLock(session))) {
    if (monotonic() > deadline)
      throw new Error('this controller leads, but another connection holds the lock of the site')
    const still = `exists (select 1 from roomdesk_leader where ${ofTerm('$1', '$2')})`
    await session.query(`select pg_terminate_backend(pid) from (${lockHolders}) as h where ${still}`, [epoch, id])
    await sleep(clusterTimes.lockAttempt)
  }
  return { leader, term: { epoch, id }, roomNumbers }
}

/**
 * Lets go of the lease: whoever takes the lock may answer at once, so nothing may be answered from memory any more.
 * @param roomNumbers the highest that was given: no room gets one above it any more
 */
export async function letGo(session: Session, { epoch, id }: Term, roomNumbers: number): Promise<void> {
  await session.query(`update roomdesk_leader set renewed_at = null, room_numbers = $3 where ${ofTerm('$1', '$2')}`, [
    epoch,
    id,
    roomNumbers,
  ])
}

/**
 * Renews the lease. Its commit is confirmed as every change is: a primary that is cut off from its synchronous standbys, and may have been replaced, proves nothing.
 * @param readsMs how long this proof and all before it count from now on: a controller that takes over waits for that
 * @returns false: another controller leads
 */
export async function renewLease(session: Session, { epoch, id }: Term, readsMs: number): Promise<boolean> {
  const { rowCount } = await session.commit(
    `update roomdesk_leader set renewed_at = clock_timestamp(), reads_ms = $3 where ${ofTerm('$1', '$2')}`,
    [epoch, id, readsMs],
    'renew',
  )
  return rowCount === 1
}

/**
 * Names who follows, and lets go of the lease: whoever takes the lock may answer at once, so nothing may be answered from memory any more.
 * @param forMs how long others hold back
 * @param roomNumbers the highest that was given: no room gets one above it any more
 * @returns false: another controller leads
 */
export async function nameSuccessor(
  session: Session,
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
 * Ends the connections of a leader whose lease is over, so that its lock gets free. One whose statement the database is carrying out is not frozen, but the database slow.
 * @throws what the database says when its user may not
 */
export async function endFrozenLeader(session: Session): Promise<void> {
  const over = `exists (select 1 from roomdesk_leader where id = 1 and renewed_at + lease_ms * interval '1 ms' < clock_timestamp())`
  const busy = `a.state = 'active' and coalesce(a.wait_event_type, '') <> 'Client' and a.query_start > clock_timestamp() - interval '5 s'`
  await session.query(
    `select pg_terminate_backend(a.pid) from pg_stat_activity a join (${lockHolders}) h using (pid) where ${over} and not coalesce(${busy}, false)`,
  )
  // A snapshot that is just being committed keeps the epoch from being raised.
  await session.query(
    `select pg_terminate_backend(a.pid) from pg_stat_activity a join pg_locks l using (pid)
     where l.relation = 'roomdesk_leader'::regclass and l.mode in ('RowShareLock', 'RowExclusiveLock')
       and a.state = 'idle in transaction' and a.pid <> pg_backend_pid() and ${over}`,
  )
}

/** That another controller has taken over, and which. */
export async function fencedError(session: Session): Promise<FencedError> {
  return new FencedError(await leaderName(session))
}

async function leaderName(session: Session): Promise<string> {
  const { rows } = await session.query<{ name: string }>('select name from roomdesk_leader')
  return rows[0]?.name ?? ''
}
