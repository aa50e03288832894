import { monotonic, startTimer, type Timer } from '../system/time.ts'
import { type ChangeCause, currentCause } from '../change-cause.ts'
import type { GroupCommit } from '../journal/group-commit.ts'
import { encodeChanges, encodeInLines } from '../journal/journal-line.ts'
import type { State } from '../state.ts'
import { type Medium, notStored, outcomeUnknown } from '../storage.ts'
import type { Change, CollectionName, Transaction } from '../store.ts'
import { CapCounts } from './cap-counts.ts'
import { type Job, PlanTransaction } from './job.ts'
import { LockTable, Ticket } from './lock-table.ts'

/** Maximum number of waiting transactions; more are rejected at once. */
const maxWaiting = 100_000
/** Additional time for a change of the whole site, in milliseconds. */
const wholeSiteMs = 60_000
/** Additional time for each record of a change of the whole site, in milliseconds. */
const recordMs = 1

export interface TransactionsOptions {
  state: State
  commit: Pick<GroupCommit<Job>, 'add' | 'remove'>
  /** Returns the maximum duration of a change, in milliseconds. */
  deadlineMs: () => number
  medium: Medium
  /**
   * Returns further changes that must be stored with a transaction.
   * @param pending changes that are not in memory yet
   */
  consequences: (
    changes: readonly Change[],
    pending: PendingChanges,
    cause: ChangeCause | undefined,
  ) => readonly Change[]
}

/**
 * Runs plans when their locks are free, passes their changes to the storage, and reports the outcome to their callers.
 */
export class Transactions {
  readonly #options: TransactionsOptions
  readonly #locks = new LockTable()
  readonly #counts: CapCounts
  /** Jobs whose caller is waiting, in order of arrival. */
  readonly #live = new Set<Job>()
  readonly #pending = new PendingChanges()
  /** Plans that wait for `release`; undefined: plans are not held. */
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

  /** Commits any number of changes atomically while plans are held. */
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

  /** Starts no plan until `release`. */
  hold(): void {
    this.#held ??= []
  }

  release(): void {
    const waiting = this.#held ?? []
    this.#held = undefined
    for (const job of waiting) this.#begin(job)
  }

  /** Ends jobs whose changes are on disk and in memory. */
  succeeded(group: readonly Job[]): void {
    for (const job of group) {
      // Has no effect if the caller already received the deadline's error. Memory follows the disk in any case.
      job.succeed()
      this.#end(job)
    }
  }

  /** Ends jobs whose changes the storage rejected. */
  failed(group: readonly Job[], error: unknown): void {
    for (const job of group) {
      job.fail(error)
      this.#end(job)
    }
  }

  close(): void {
    this.#deadlineTimer?.cancel()
  }

  /** Runs the plan of a job that holds its locks, and passes its changes to the storage. */
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

  /** Updates the counts after the changes of a job were applied to memory. @param before their previous values */
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

  /** Starts the shared timer of all jobs, which checks the deadlines when the oldest job is due. */
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

  /** Rejects a job that takes too long. The write keeps its locks until the storage has answered. */
  #expire(job: Job): void {
    const reason = `the ${this.#options.medium} did not answer in time`
    this.#live.delete(job)
    job.cancelled = true
    const isRemoved = this.#options.commit.remove(job)
    // A job without changes is still waiting for its locks, and will not start.
    job.fail(isRemoved || job.changes.length === 0 ? notStored(reason) : outcomeUnknown(reason))
    if (isRemoved) this.#end(job)
  }
}

/** Pending changes: the latest change of each record that is being written and not yet in memory. */
class PendingChanges {
  readonly #latest = new Map<CollectionName, Map<string, Change>>()

  add(changes: readonly Change[]): void {
    for (const change of changes) {
      const latest = this.#latest.get(change.collection)
      if (latest === undefined) this.#latest.set(change.collection, new Map([[change.key, change]]))
      else latest.set(change.key, change)
    }
  }

  /** Removes changes that are in memory now, or were rejected. */
  remove(changes: readonly Change[]): void {
    for (const change of changes) {
      const latest = this.#latest.get(change.collection)
      if (latest?.get(change.key) === change) latest.delete(change.key)
    }
  }

  /** Returns the pending change of a record; undefined: none. */
  of(collection: CollectionName, key: string): Change | undefined {
    return this.#latest.get(collection)?.get(key)
  }

  /** Returns the keys of the records of a collection that have a pending change. */
  keysOf(collection: CollectionName): Iterable<string> {
    return this.#latest.get(collection)?.keys() ?? []
  }
}
