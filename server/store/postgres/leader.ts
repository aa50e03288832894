import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DatabaseAddress } from './database-address.ts'
import { DatabaseInUseError, DeposedError } from './database-error.ts'
import type { Session } from './session.ts'

/** Of the advisory lock that a leader holds; the schema of its tables is the other half of the key. */
const lockClass = 0x52444c
/** A connection that was cut is noticed by the server within this time, and so is its lock free, in milliseconds. */
const lockMs = 5_000
const betweenMs = 100

/** Who stores for the site. */
export interface Leadership {
  /** Names this opening of the store, whatever its connections do. */
  holder: string
  epoch: string
}

/** Sites in schemas of one database have each their own. */
const lockObject = `hashtext(coalesce(current_schema(), ''))`

/**
 * Takes the lock that tells a living leader from a dead one: it ends with the connection, however that ends.
 * @throws DatabaseInUseError while another controller runs on the site
 */
export async function takeLock(session: Session, { shown }: DatabaseAddress): Promise<void> {
  const deadline = performance.now() + lockMs
  while (!(await tryLock(session))) {
    if (performance.now() > deadline) {
      const who = await leaderName(session).catch(() => '')
      throw new DatabaseInUseError(
        `The site in the database ${shown} is in use by another controller${who === '' ? '' : ` (${who})`}: stop it first, or name another database.`,
      )
    }
    await sleep(betweenMs)
  }
}

/** Makes this holder the leader: nobody before can store any more. Resolves when what they were storing is stored, or is not. */
export async function lead(session: Session, holder: string): Promise<Leadership> {
  const { rows } = await session.query<{ epoch: string }>(
    `insert into roomdesk_leader (id, epoch, holder, name, since) values (1, 1, $1, $2, now())
     on conflict (id) do update set epoch = roomdesk_leader.epoch + 1, holder = $1, name = $2, since = now()
     returning epoch`,
    [holder, `process ${process.pid} of ${hostname()}`],
  )
  return { holder, epoch: rows[0]?.epoch ?? '' }
}

/**
 * Leads on by another connection. The epoch is raised, so that nothing of the one before is stored after this.
 * @throws DeposedError when another controller has taken over
 */
export async function leadOn(session: Session, holder: string): Promise<Leadership> {
  const { rows } = await session.query<{ epoch: string }>(
    'update roomdesk_leader set epoch = epoch + 1 where id = 1 and holder = $1 returning epoch',
    [holder],
  )
  const epoch = rows[0]?.epoch
  if (epoch === undefined) throw await deposed(session)
  if (!(await tryLock(session))) {
    // We are the leader, so the lock is held by a connection of ours that the server has not seen end yet.
    await session.query(
      `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and classid = ${lockClass}
         and objid = (${lockObject}::bigint & 4294967295)::oid and granted and pid <> pg_backend_pid()
         and database = (select oid from pg_database where datname = current_database())`,
    )
    for (let waited = 0; waited < lockMs && !(await tryLock(session)); waited += betweenMs) await sleep(betweenMs)
  }
  return { holder, epoch }
}

/** That another controller has taken over, and which. */
export async function deposed(session: Session): Promise<DeposedError> {
  return new DeposedError(await leaderName(session))
}

async function leaderName(session: Session): Promise<string> {
  const { rows } = await session.query<{ name: string }>('select name from roomdesk_leader')
  return rows[0]?.name ?? ''
}

async function tryLock(session: Session): Promise<boolean> {
  const { rows } = await session.query<{ ours: boolean }>(
    `select pg_try_advisory_lock(${lockClass}, ${lockObject}) as ours`,
  )
  return rows[0]?.ours === true
}
