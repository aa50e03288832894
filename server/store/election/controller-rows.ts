import type { ControllerPlace, KnownController } from './site-member.ts'
import type { DatabaseSession } from '../postgres/database-session.ts'
import type { ElectionTimes } from './timings.ts'

/**
 * SQL expression for a commit that does not wait for the disk, unless $9 (`isConfirmed`) is true. Losing a report in a
 * database crash is harmless.
 */
const quick = `case when not $9 then set_config('synchronous_commit', 'off', true) end`

/** Row that a controller writes about itself. */
export interface ControllerReport {
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

/** Query for the number of the last stored line. */
export const head = `select coalesce(greatest((select max(seq) from roomdesk_journal), (select max(seq) from roomdesk_snapshot)), 0) as seq`

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
