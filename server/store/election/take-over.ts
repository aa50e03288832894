import { elapsed, monotonic, sleepOn } from '../system/time.ts'
import { uuid } from '../system/random.ts'
import { termOf } from '../postgres/read-state.ts'
import type { DatabaseSession } from '../postgres/database-session.ts'
import { beginTerm, sayRecords, settleSite, type SiteCheck } from '../postgres/site-row.ts'
import type { LeaderRow } from './controller-rows.ts'
import type { Follower } from './follower.ts'
import { channel, lead, type WonTerm } from './leader.ts'
import type { ElectionTimes } from './timings.ts'

export interface Taken {
  session: DatabaseSession
  won: WonTerm
  /** `elapsed()` just before the epoch was raised. */
  provedAt: number
  /** Duration of raising the epoch, in milliseconds. */
  provedIn: number
  /** See RaisedTerm. */
  heedReads: boolean
  /** Number of the last stored line. */
  stored: number
  snapshot: { seq: number; bytes: number; at: number } | undefined
  /** Whether the previous leader has named this controller as its successor. */
  named: boolean
}

interface Successor {
  id: string
  name: string
  times: ElectionTimes
  follower: Follower
}

/**
 * Makes this controller the leader. The caller must hold the lock. When this resolves, memory contains all changes that
 * others stored, and only this controller can store changes.
 * @param before row of the previous leader
 */
export async function takeOver(
  session: DatabaseSession,
  before: LeaderRow | undefined,
  check: SiteCheck,
  { id, name, times, follower }: Successor,
): Promise<Omit<Taken, 'named'>> {
  await settleSite(session, check)
  await session.query(`unlisten ${channel}`)
  const provedAt = elapsed()
  const won = await lead(session, { holder: uuid(), name, controller: id, leaseMs: times.lease })
  const provedIn = elapsed() - provedAt
  // The last proof of the previous leader is older than this moment: that leader answers from memory for at most
  // `reads` from now on.
  const reads = Math.max(times.reads, won.readsBefore)
  const answersUntil = mayStillAnswer(before, id) ? monotonic() + reads + times.margin : 0
  await sayRecords(session, check.migrations)
  await follower.follow(session, termOf({ epoch: won.term.epoch, term: won.term.id }))
  const stored = await beginTerm(session, won.term, follower.last)
  const { rows } = await session.query<{ seq: string; bytes: string; at: string }>(
    'select seq, bytes, written_at as at from roomdesk_snapshot order by id desc limit 1',
  )
  const newest = rows[0]
  const snapshot =
    newest === undefined ? undefined : { seq: Number(newest.seq), bytes: Number(newest.bytes), at: Number(newest.at) }
  const left = answersUntil - monotonic()
  if (left > 0) await sleepOn(left)
  if (session.lost !== undefined) throw session.lost
  return { session, won, provedAt, provedIn, heedReads: won.heedReads, stored, snapshot }
}

/**
 * Whether the previous leader may still answer: it has not released its lease, and is not an earlier process of this
 * controller.
 */
function mayStillAnswer(row: LeaderRow | undefined, own: string): boolean {
  return row !== undefined && row.leaseLeft !== null && row.controller !== own
}
