import { onAbort } from '../../../shared/abort.ts'
import type { DatabaseSession } from '../postgres/database-session.ts'
import { termOf } from '../postgres/read-state.ts'
import { sayRecords, settleSite, type SiteCheck } from '../postgres/schema.ts'
import { beginTerm } from './journal-rows.ts'
import { uuid } from '../system/system.ts'
import { elapsed, monotonic, sleepOn } from '../system/time.ts'
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

/** The caller of `lead` that waits for this controller to become leader. */
interface Waiting {
  resolve: (taken: Taken) => void
  reject: (error: unknown) => void
}

/** The request to become leader: answered once this controller leads, or refused. */
export class LeadRequest {
  #waiting: Waiting | undefined
  /** Error that prevents the program from running on this site. */
  #unfit: Error | undefined

  get isOpen(): boolean {
    return this.#waiting !== undefined
  }

  /** @throws the abort reason of `signal`; the error that prevents the program from running on this site */
  open(signal: AbortSignal): Promise<Taken> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) throw signal.reason
      if (this.#unfit !== undefined) throw this.#unfit
      // The signal outlives this role: a remaining listener would keep the whole role in memory.
      const forget = onAbort(signal, () => this.refuse(signal.reason))
      this.#waiting = {
        resolve: (taken) => {
          forget()
          resolve(taken)
        },
        reject: (error) => {
          forget()
          reject(error)
        },
      }
    })
  }

  refuse(error: unknown): void {
    this.#waiting?.reject(error)
    this.#waiting = undefined
  }

  /** Refuses this request and each later one, because the program cannot run on this site. */
  refuseAll(error: Error): void {
    this.#unfit = error
    this.refuse(error)
  }

  /** Accepts requests again: the database was read. */
  allow(): void {
    this.#unfit = undefined
  }

  /**
   * Closes the request without an answer.
   * @returns the function that answers the request; undefined: the request was withdrawn
   */
  take(): Waiting['resolve'] | undefined {
    const waiting = this.#waiting
    this.#waiting = undefined
    return waiting?.resolve
  }
}
