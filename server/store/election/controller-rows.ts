import { DatabaseError } from '../postgres/database-error.ts'
import type { DatabaseSession } from '../postgres/database-session.ts'
import { monotonic } from '../system/time.ts'
import { head } from './journal-rows.ts'
import type { ControllerPlace, JoiningController, KnownController } from './site-member.ts'
import { clusterTimes, type ElectionTimes } from './timings.ts'

/**
 * SQL expression for a commit that does not wait for the disk, unless $9 (`isConfirmed`) is true. Losing a report in a
 * database crash is harmless.
 */
const quick = `case when not $9 then set_config('synchronous_commit', 'off', true) end`

/** Row that a controller writes about itself. */
interface ControllerReport {
  id: string
  name: string
  version: string
  place: ControllerPlace
  /** Number of the last journal line in the controller's memory. */
  applied: number
  /** Start of the controller's current role, in milliseconds since the epoch. */
  since: number
}

/** A controller as described by its row. */
export interface ReportedController extends KnownController {
  /**
   * Whether the controller waits for the validity of proofs in the leader's row before it leads; false: its version is
   * too old.
   */
  heedsReads: boolean
}

/** Row of the leader, joined with the row of its controller. */
export interface LeaderRow {
  epoch: string
  /** Id of the leader's term; null: a version of Roomdesk without terms. */
  term: string | null
  /** Highest reserved room number. */
  roomNumbers: string
  holder: string
  name: string
  /** Id of the leading controller; null: a tool with exclusive access to the site. */
  controller: string | null
  /** Remaining time of the lease, in milliseconds; negative: expired; null: no lease. */
  leaseLeft: number | null
  /** Id of the named successor, for which other controllers wait; null: none. */
  successor: string | null
  version: string | null
  place: ControllerPlace | null
  applied: string | null
  /** Time since the last report of the leading controller, in milliseconds; null: no report. */
  seenAgo: number | null
  since: number | null
}

const milliseconds = (from: string, to: string): string => `(extract(epoch from ${to} - ${from}) * 1000)::float8`
const ago = (at: string): string => milliseconds(at, 'clock_timestamp()')

const leaderRow = `select l.epoch, l.term, l.room_numbers as "roomNumbers", l.holder, l.name, l.controller,
    ${milliseconds('clock_timestamp()', `l.renewed_at + l.lease_ms * interval '1 ms'`)} as "leaseLeft",
    case when l.successor_until > clock_timestamp() then l.successor end as successor,
    c.version, c.place, c.applied, ${ago('c.seen_at')} as "seenAgo", extract(epoch from l.since)::float8 * 1000 as since
  from roomdesk_leader l left join roomdesk_controller c on c.id = l.controller where l.id = 1`

/** Reads the current or last leader; undefined: there was none yet. */
export async function readLeader(session: DatabaseSession): Promise<LeaderRow | undefined> {
  const { rows } = await session.query<LeaderRow>(leaderRow, [], 'leader')
  return rows[0]
}

/** Whether a row's lease is valid. A leader without a lease leads while it holds the lock. */
export function leads(row: LeaderRow): boolean {
  return row.leaseLeft === null || row.leaseLeft > 0
}

/**
 * Returns the address of the controller of a row, even if that controller no longer leads; undefined: no controller or
 * no address.
 */
export function leaderPlaceOf({ controller: id, place }: LeaderRow): Pick<KnownController, 'id' | 'place'> | undefined {
  return id === null || place === null ? undefined : { id, place }
}

/** Returns the leader of a row; undefined: no controller leads. @param now milliseconds since the epoch */
export function leaderOf(row: LeaderRow | undefined, now: number): KnownController | undefined {
  if (row === undefined || row.controller === null || row.place === null || !leads(row)) return undefined
  const { controller: id, name, version, place, seenAgo, since } = row
  const [role, behind, behindFor] = ['leader', 0, 0] as const
  const seenAt = Math.round(now - (seenAgo ?? 0))
  return { id, name, version: version ?? '', place, role, behind, behindFor, seenAt, since: Math.round(since ?? now) }
}

/**
 * Writes the report of a controller.
 * @param owner data folder of the row, and the milliseconds without a report after which a row of another folder is
 * free
 * @param isConfirmed whether the commit waits for the disk and for a synchronous standby, like that of a change
 * @returns false: a controller with the same id and another data folder writes the row
 */
export async function report(
  session: DatabaseSession,
  said: ControllerReport,
  { folder, freeAfterMs }: { folder: string; freeAfterMs: number },
  isConfirmed: boolean,
): Promise<boolean> {
  const { id, name, version, place, applied, since } = said
  const { rowCount } = await session.commit(
    // If an earlier program version later runs with this id, it changes `since` but not `heeds_reads`.
    `insert into roomdesk_controller as c (id, name, version, place, applied, behind, behind_ms, seen_at, since, folder, heeds_reads)
     select $1, $2, $3, $4, $5, greatest(head.seq - $5, 0),
       coalesce((select ${ago('at')} from roomdesk_journal where seq > $5 order by seq limit 1), 0), clock_timestamp(), to_timestamp($6), $7, to_timestamp($6)
     from (select ${quick}) as s, (${head}) as head
     on conflict (id) do update set name = $2, version = $3, place = $4, applied = $5, behind = excluded.behind,
       behind_ms = excluded.behind_ms, seen_at = excluded.seen_at, since = excluded.since, folder = $7, heeds_reads = excluded.heeds_reads
       where c.folder is null or c.folder = $7 or c.seen_at < clock_timestamp() - $8 * interval '1 ms'`,
    [id, name, version, JSON.stringify(place), applied, since / 1_000, folder, freeAfterMs, isConfirmed],
    'report',
  )
  return rowCount === 1
}

/**
 * Reads all controllers that reported in the last day: this controller first, the others ordered by name. The lag of a
 * controller without a report for the duration of a lease is computed from the journal.
 */
export async function readControllers(
  session: DatabaseSession,
  { id: first, times, clock }: { id: string; times: Pick<ElectionTimes, 'lease'>; clock: () => number },
): Promise<ReportedController[]> {
  const now = clock()
  const { rows } = await session.query<{
    id: string
    name: string
    version: string
    place: ControllerPlace
    leads: boolean
    behind: string
    behindFor: number
    seenAgo: number
    since: number
    heedsReads: boolean
  }>(
    `select c.id, c.name, c.version, c.place, coalesce(c.heeds_reads = c.since, false) as "heedsReads", extract(epoch from c.since)::float8 * 1000 as since,
       coalesce(l.controller = c.id and (l.renewed_at is null or l.renewed_at + l.lease_ms * interval '1 ms' > clock_timestamp()), false) as leads,
       ${ago('c.seen_at')} as "seenAgo",
       case when ${ago('c.seen_at')} > $2 then greatest(head.seq - c.applied, 0) else c.behind end as behind,
       case when ${ago('c.seen_at')} > $2
         then coalesce((select ${ago('at')} from roomdesk_journal where seq > c.applied order by seq limit 1), 0)
         else c.behind_ms end as "behindFor"
     from roomdesk_controller c left join roomdesk_leader l on l.id = 1, (${head}) as head
     where c.seen_at > clock_timestamp() - interval '1 day'
     order by c.id <> $1, c.name, c.id`,
    [first, times.lease],
    'controllers',
  )
  return rows.map(({ leads, behind, behindFor, seenAgo, since, ...row }) => {
    const lag = leads
      ? { behind: 0, behindFor: 0 }
      : { behind: Number(behind), behindFor: Math.max(0, Math.round(behindFor)) }
    return {
      ...row,
      ...lag,
      role: leads ? 'leader' : 'standby',
      seenAt: Math.round(now - seenAgo),
      since: Math.round(since),
    }
  })
}

/**
 * Number of missed reports of another process after which its row is free, and number of rejected reports of this
 * process after which the other process certainly runs.
 */
const missed = 3
const refused = 4

interface OwnRowOptions {
  id: string
  name: string
  version: string
  /** Id of the data folder on this machine since the last boot: see `idOfFolder`. */
  folder: string
  /** Path of the folder, for a message. */
  path: string
  /** Interval of reports, in milliseconds. */
  betweenMs: number
  hasSeveralServers: boolean
  /** Start of this controller's current role, in milliseconds since the epoch. */
  since: number
}

/**
 * Row that this controller writes about itself. A copied data folder has the same controller id as the original: the
 * first of the two controllers keeps the row, and the second controller reports an error.
 * The folder's lock prevents a second process with the same folder, so this process may overwrite a row of the same
 * folder.
 */
export class OwnRow {
  readonly #options: OwnRowOptions
  #place: ControllerPlace = { media: '', device: '', node: '', console: '', event: '', certificate: '' }
  #since: number
  #isKept = false
  #refusedSince: number | undefined
  /** Connection and time of the last confirmed report. */
  #confirmed: { by: DatabaseSession; at: number } | undefined

  constructor(options: OwnRowOptions) {
    this.#options = options
    this.#since = options.since
  }

  /** Whether the row was written at least once. */
  get isKept(): boolean {
    return this.#isKept
  }

  /** Error if another controller with this id is running; undefined: none is known. */
  get shared(): DatabaseError | undefined {
    const { id, betweenMs, path } = this.#options
    if (this.#refusedSince === undefined || monotonic() - this.#refusedSince < refused * betweenMs) return undefined
    return new DatabaseError(
      `Another controller of this site runs with the id of this one (${id}), because the data folder ${path} was copied: delete controller.id in the copy, and start it again.`,
    )
  }

  /** This controller, for a registration with the leader. */
  get joiner(): JoiningController {
    const { id, name, version } = this.#options
    return { id, name, version, place: this.#place }
  }

  /** Changes the addresses of this controller. @returns whether the leader must register them again */
  announce(place: ControllerPlace): boolean {
    const { console: before, certificate } = this.#place
    this.#place = place
    return place.console !== before || place.certificate !== certificate
  }

  /** Records that this controller has a new role. @param since milliseconds since the epoch */
  changesRole(since: number): void {
    this.#since = since
  }

  /** Returns this controller as the leader. @param now milliseconds since the epoch */
  asLeader(now: number): KnownController {
    return { ...this.joiner, role: 'leader', behind: 0, behindFor: 0, seenAt: now, since: this.#since }
  }

  /**
   * Writes the report. If the database has several servers, the first report of a connection, and then one report every
   * few seconds, is confirmed like a change. An old primary that still runs answers statements, but confirms no commit.
   * @param applied number of the last journal line in memory
   * @returns false: another controller writes the row
   */
  async write(session: DatabaseSession, applied: number): Promise<boolean> {
    const { folder, betweenMs, hasSeveralServers } = this.#options
    const isConfirmed = hasSeveralServers && !this.#hasConfirmed(session)
    const said = { ...this.joiner, applied, since: this.#since }
    const isOurs = await report(session, said, { folder, freeAfterMs: missed * betweenMs }, isConfirmed)
    if (isConfirmed) this.#confirmed = { by: session, at: monotonic() }
    if (isOurs) {
      this.#isKept = true
      this.#refusedSince = undefined
      return true
    }
    this.#refusedSince ??= monotonic()
    return false
  }

  #hasConfirmed(session: DatabaseSession): boolean {
    return this.#confirmed?.by === session && monotonic() - this.#confirmed.at < clusterTimes.betweenConfirmed
  }
}
