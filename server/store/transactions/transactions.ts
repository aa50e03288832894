import { monotonic, startTimer, type Timer } from '../system/time.ts'
import { type ChangeCause, currentCause } from '../change-cause.ts'
import type { GroupCommit } from '../journal/group-commit.ts'
import { encodeChanges, encodeInLines } from '../journal/journal-line.ts'
import type { State } from '../state.ts'
import type { Medium } from '../storage.ts'
import { notStored, outcomeUnknown } from '../storage-error.ts'
import type { Change, Transaction } from '../store.ts'
import { CapCounts } from './cap-counts.ts'
import { type Job, PlanTransaction } from './job.ts'
import { LockTable, Ticket } from './lock-table.ts'
import { PendingChanges } from './pending-changes.ts'

/** Transactions that may wait at one time; more are refused at once. */
const maxWaiting = 100_000
/** A whole site takes longer than one change: it has this much more, in milliseconds. */
const wholeSiteMs = 60_000
/** And this much more for each of its records. */
const recordMs = 1

export interface TransactionsOptions {
  state: State
  commit: Pick<GroupCommit<Job>, 'add' | 'remove'>
  /** How long a change may take, in milliseconds. */
  deadlineMs: () => number
  medium: Medium
  /** Further changes that belong to those of a transaction. @param pending changes that are not in memory yet */
  consequences: (
    changes: readonly Change[],
    pending: PendingChanges,
    cause: ChangeCause | undefined,
  ) => readonly Change[]
}

/** Runs plans when their locks are free, hands what they change to the disk, and tells their callers what became of it. */
export class Transactions {
  readonly #options: TransactionsOptions
  readonly #locks = new LockTable()
  readonly #counts: CapCounts
  /** Jobs whose caller waits, in order of arrival. */
  readonly #live = new Set<Job>()
  readonly #pending = new PendingChanges()
  /** While plans are held back, they wait here. */
  #held: Job[] | undefined
  #deadlineTimer: Timer | undefined

  constructor(options: TransactionsOptions) {
    this.#options = options
    this.#counts = new CapCounts(options.state)
  }

  /** See Store.transact. */
  run<T>(locks: readonly string[], plan: (transaction: Transaction) => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#live.size >= maxWaiting) {
        reject(notStored(`too many changes wait for the ${this.#options.medium}`))
        return
      }
      let result: T
      const job: Job = {
        line: '',
        cancelled: false,
        ticket: new Ticket(locks, () => this.#begin(job)),
        changes: [],
        reservations: [],
        since: monotonic(),
        cause: currentCause(),
        run: (transaction) => {
          result = plan(transaction)
        },
        succeed: () => resolve(result),
        fail: reject,
      }
      this.#watch(job)
      this.#locks.take(job.ticket)
    })
  }

  /** Commits changes of any number while plans are held back, all or none. */
  async commit(wanted: readonly Change[]): Promise<void> {
    const changes = [...wanted, ...this.#options.consequences(wanted, this.#pending, currentCause())]
    const isDatabase = this.#options.medium === 'database'
    const [line = '', ...further] = isDatabase ? await encodeInLines(changes) : [encodeChanges(changes)]
    await new Promise<void>((succeed, fail) => {
      const job: Job = {
        line,
        further,
        cancelled: false,
        ticket: new Ticket([], () => undefined),
        changes,
        reservations: [],
        since: monotonic() + wholeSiteMs + changes.length * recordMs,
        cause: undefined,
        run: () => undefined,
        succeed,
        fail,
      }
      this.#watch(job)
      this.#pending.add(changes)
      this.#options.commit.add(job)
    })
  }

  /** Begins no plan until `release`. */
  hold(): void {
    this.#held ??= []
  }

  release(): void {
    const waiting = this.#held ?? []
    this.#held = undefined
    for (const job of waiting) this.#begin(job)
  }

  /** These are on disk and in memory. */
  succeeded(group: readonly Job[]): void {
    for (const job of group) {
      // Does nothing when the caller has had the deadline's error already: memory follows the disk all the same.
      job.succeed()
      this.#end(job)
    }
  }

  /** The disk refused these. */
  failed(group: readonly Job[], error: unknown): void {
    for (const job of group) {
      job.fail(error)
      this.#end(job)
    }
  }

  close(): void {
    this.#deadlineTimer?.cancel()
  }

  /** A job holds its locks: runs its plan and hands what it changed to the disk. */
  #begin(job: Job): void {
    if (job.cancelled) {
      this.#locks.release(job.ticket)
      return
    }
    if (this.#held !== undefined) {
      this.#held.push(job)
      return
    }
    const transaction = new PlanTransaction(this.#options.state, this.#counts)
    try {
      job.run(transaction)
      transaction.ended = true
      transaction.changes.push(...this.#options.consequences(transaction.changes, this.#pending, job.cause))
      if (transaction.changes.length > 0) job.line = encodeChanges(transaction.changes)
    } catch (error) {
      this.#counts.release(transaction.reservations)
      this.#end(job)
      job.fail(error)
      return
    }
    if (transaction.changes.length === 0) {
      this.#end(job)
      job.succeed()
      return
    }
    job.changes = transaction.changes
    job.reservations = transaction.reservations
    this.#pending.add(job.changes)
    this.#options.commit.add(job)
  }

  /** The changes of a job are in memory: they are counted there. @param before the values that they replaced */
  applied(job: Job, before: readonly Change['value'][]): void {
    this.#counts.changed(job.changes, before)
    this.#settled(job)
  }

  #settled(job: Job): void {
    this.#counts.release(job.reservations)
    job.reservations = []
  }

  #end(job: Job): void {
    this.#settled(job)
    this.#pending.remove(job.changes)
    this.#live.delete(job)
    this.#locks.release(job.ticket)
  }

  #watch(job: Job): void {
    this.#live.add(job)
    if (this.#deadlineTimer === undefined) this.#lookIn(this.#options.deadlineMs())
  }

  /** One timer for all: it looks at the oldest when that is due. */
  #lookIn(wait: number): void {
    const look = (): void => {
      this.#deadlineTimer = undefined
      const deadline = this.#options.deadlineMs()
      const now = monotonic()
      let next = Number.POSITIVE_INFINITY
      for (const job of [...this.#live]) {
        const remaining = job.since + deadline - now
        if (remaining > 0) next = Math.min(next, remaining)
        else this.#expire(job)
      }
      if (next !== Number.POSITIVE_INFINITY) this.#lookIn(next)
    }
    this.#deadlineTimer = startTimer(wait, look, false)
  }

  /** Answers the caller that it takes too long. The write keeps its locks until the disk has answered. */
  #expire(job: Job): void {
    const reason = `the ${this.#options.medium} did not answer in time`
    this.#live.delete(job)
    job.cancelled = true
    const isRemoved = this.#options.commit.remove(job)
    // A job without changes waits for its locks, and never begins.
    job.fail(isRemoved || job.changes.length === 0 ? notStored(reason) : outcomeUnknown(reason))
    if (isRemoved) this.#end(job)
  }
}
