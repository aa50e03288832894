import { ApiError } from '../../shared/result-codes.ts'
import { previewBackup, readBackup } from './files/backup-contents.ts'
import { listBackups } from './files/backups.ts'
import { difference, endedSessions } from './files/difference.ts'
import { applyChange, changeOf, type State } from './files/documents.ts'
import { hasCode } from './files/durable-files.ts'
import { GroupCommit } from './journal/group-commit.ts'
import { type Job, PlanTransaction } from './transactions/job.ts'
import type { Journal } from './journal/journal.ts'
import { encodeChanges } from './journal/journal-line.ts'
import { LockTable, Ticket } from './transactions/lock-table.ts'
import type { Migrations } from './migrations.ts'
import type { Notices } from './notices.ts'
import type { Sealer } from './sealer.ts'
import { Snapshots, type SnapshotsOptions } from './files/snapshots.ts'
import { withoutClearSecrets } from './site-settings.ts'
import { WriteBehindQueue } from './journal/write-behind.ts'
import type {
  Change,
  CollectionName,
  Collections,
  Store,
  StoreBackup,
  StoreBackupPreview,
  StoreNotice,
  StoreStatus,
  Transaction,
} from './store.ts'

/** Transactions that may wait at one time; more are refused at once. */
const mostWaiting = 100_000
/** A flush that lasts this long is a disk that does not answer, in milliseconds. */
const slowFlush = 100
/** Records up to which the files are rewritten when the store closes: takes a few milliseconds. */
const cheapRecords = 5_000

export interface DurableStoreOptions {
  folder: string
  state: State
  journal: Journal
  snapshots: Omit<SnapshotsOptions, 'between' | 'roomNumber' | 'onHealth'>
  sealer: Sealer
  notices: Notices
  clock: () => number
  /** How long a change may take, in milliseconds. */
  deadlineMs: () => number
  migrations: Migrations
  /** The highest room number ever given: shared with the journal, which writes it down. */
  roomNumbers: { last: number }
  unlock: () => Promise<void>
  onListenerError: (error: unknown) => void
}

/** The store on its files; made by `openStore`. */
export class DurableStore implements Store {
  readonly #options: DurableStoreOptions
  readonly #state: State
  readonly #locks = new LockTable()
  readonly #writeBehind = new WriteBehindQueue()
  readonly #commit: GroupCommit<Job>
  readonly #snapshots: Snapshots
  /** Jobs whose caller waits, in order of arrival. */
  readonly #live = new Set<Job>()
  readonly #changeListeners = new Set<(changes: readonly Change[]) => void>()
  readonly #flushListeners = new Set<(milliseconds: number) => void>()
  #deadlineTimer: NodeJS.Timeout | undefined
  /** While a backup is restored, plans wait here. */
  #gate: Job[] | undefined
  #journalError: string | undefined
  #filesError: string | undefined
  #closed: Promise<void> | undefined

  constructor(options: DurableStoreOptions) {
    this.#options = options
    this.#state = options.state
    this.#commit = new GroupCommit<Job>({
      journal: options.journal,
      writeBehind: this.#writeBehind,
      onDurable: (group) => this.#durable(group),
      onRefused: (group, error) => this.#refused(group, error),
      onFlush: (milliseconds) => this.#flushed(milliseconds),
      onHealth: (error) => this.#health('journal', error),
    })
    this.#snapshots = new Snapshots({
      ...options.snapshots,
      between: (task) => this.#commit.between(task),
      roomNumber: () => options.roomNumbers.last,
      onHealth: (error) => this.#health('files', error),
    })
  }

  get<C extends CollectionName>(collection: C, key: string): Collections[C] | undefined {
    const map: Map<string, Collections[C]> = this.#state[collection]
    return map.get(key)
  }

  all<C extends CollectionName>(collection: C): ReadonlyMap<string, Collections[C]> {
    return this.#state[collection]
  }

  transact<T>(locks: readonly string[], plan: (transaction: Transaction) => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#closed !== undefined) {
        reject(new ApiError('storage', { reason: 'the store is closed' }))
        return
      }
      if (this.#live.size >= mostWaiting) {
        reject(new ApiError('storage', { reason: 'too many changes wait for the disk' }))
        return
      }
      let result: T
      const job: Job = {
        line: '',
        cancelled: false,
        ticket: new Ticket(locks, () => this.#begin(job)),
        changes: [],
        since: performance.now(),
        run: (transaction) => {
          result = plan(transaction)
        },
        succeed: () => resolve(result),
        fail: reject,
      }
      this.#live.add(job)
      if (this.#deadlineTimer === undefined) this.#watchDeadlines(this.#options.deadlineMs())
      this.#locks.take(job.ticket)
    })
  }

  writeBehind<C extends CollectionName>(collection: C, key: string, value: Collections[C] | undefined): void {
    const change = changeOf(collection, key, value)
    const existed = this.#state[collection].has(key)
    applyChange(this.#state, change)
    this.#writeBehind.add(change, existed)
    if (this.#writeBehind.size > 0) this.#commit.addedBehind()
    if (this.#changeListeners.size > 0) this.#tell([change])
  }

  nextRoomNumber(): number {
    return ++this.#options.roomNumbers.last
  }

  responsive(deadlineMs: number): Promise<void> | undefined {
    const since = this.#stuckSince()
    if (since === 0) return undefined
    return new Promise((resolve, reject) => {
      const late = () => reject(new ApiError('storage', { reason: 'the disk does not answer' }))
      const remaining = since + deadlineMs - performance.now()
      if (remaining <= 0) {
        late()
        return
      }
      const timer = setTimeout(late, remaining)
      void this.#commit.nextFlush().then(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }

  onChange(listener: (changes: readonly Change[]) => void): () => void {
    this.#changeListeners.add(listener)
    return () => void this.#changeListeners.delete(listener)
  }

  onNotice(listener: (notice: StoreNotice) => void): () => void {
    return this.#options.notices.listen(listener)
  }

  onFlush(listener: (milliseconds: number) => void): () => void {
    this.#flushListeners.add(listener)
    return () => void this.#flushListeners.delete(listener)
  }

  status(): StoreStatus {
    const since = this.#commit.waitingSince
    const lastError = this.#journalError ?? this.#filesError
    return {
      healthy: lastError === undefined,
      lastError,
      backlog: this.#commit.backlog,
      flushingFor: since === 0 ? 0 : performance.now() - since,
      lastFlush: this.#commit.lastFlush,
      journalBytes: this.#snapshots.journalBytes,
      snapshotAt: this.#snapshots.writtenAt,
      notices: this.#options.notices.all,
    }
  }

  seal(secret: string): string {
    return this.#options.sealer.seal(secret)
  }

  unseal(sealed: string): string {
    return this.#options.sealer.unseal(sealed)
  }

  stall(stalled: boolean): void {
    this.#commit.stall(stalled)
  }

  async snapshot(): Promise<void> {
    await this.makeBackup()
  }

  /** Rewrites the files without a backup of its own: after a recovery. */
  rewrite(): Promise<void> {
    return this.#snapshots.run()
  }

  backups(): Promise<readonly StoreBackup[]> {
    return listBackups(this.#options.folder)
  }

  async makeBackup(): Promise<StoreBackup> {
    try {
      return await this.#snapshots.backUp()
    } catch (error) {
      throw storageError(error)
    }
  }

  async previewBackup(name: string): Promise<StoreBackupPreview> {
    try {
      return await previewBackup(this.#options.folder, name, this.#options.migrations)
    } catch (error) {
      throw backupError(name, error)
    }
  }

  async restoreBackup(name: string): Promise<void> {
    const { folder, migrations, notices, clock, roomNumbers } = this.#options
    if (this.#gate !== undefined || this.#closed !== undefined)
      throw new ApiError('storage', { reason: 'another restore is under way' })
    let restored: Awaited<ReturnType<typeof readBackup>>
    try {
      restored = await readBackup(folder, name, migrations)
    } catch (error) {
      throw backupError(name, error)
    }
    await this.makeBackup()
    this.#gate = []
    try {
      await this.#commit.whenEmpty()
      roomNumbers.last = Math.max(roomNumbers.last, restored.roomNumber)
      const sealed = withoutClearSecrets(restored.state.settings.get('site'), this.#options.sealer)
      if (sealed !== undefined) restored.state.settings.set('site', sealed)
      const changes = await difference(this.#state, restored.state)
      changes.push(...endedSessions(this.#state, restored.state))
      if (changes.length > 0) await this.#commitAtOnce(changes)
    } finally {
      const waiting = this.#gate
      this.#gate = undefined
      for (const job of waiting) this.#begin(job)
    }
    const message = `The backup ${name} was restored; what was there before is the backup made just before it.`
    notices.add({ level: 'info', at: clock(), code: 'restored', message })
  }

  close(): Promise<void> {
    this.#closed ??= this.#shutDown()
    return this.#closed
  }

  /** A job holds its locks: runs its plan and hands what it changed to the disk. */
  #begin(job: Job): void {
    if (job.cancelled) {
      this.#locks.release(job.ticket)
      return
    }
    if (this.#gate !== undefined) {
      this.#gate.push(job)
      return
    }
    const transaction = new PlanTransaction()
    try {
      job.run(transaction)
      transaction.ended = true
      if (transaction.changes.length > 0) job.line = encodeChanges(transaction.changes)
    } catch (error) {
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
    this.#commit.add(job)
  }

  #commitAtOnce(changes: readonly Change[]): Promise<void> {
    return new Promise((succeed, fail) => {
      const ticket = new Ticket([], () => undefined)
      const job: Job = {
        line: encodeChanges(changes),
        cancelled: false,
        ticket,
        changes,
        // A whole site takes longer than one change: it has a minute more.
        since: performance.now() + 60_000,
        run: () => undefined,
        succeed,
        fail,
      }
      this.#live.add(job)
      if (this.#deadlineTimer === undefined) this.#watchDeadlines(this.#options.deadlineMs())
      this.#commit.add(job)
    })
  }

  #end(job: Job): void {
    this.#live.delete(job)
    this.#locks.release(job.ticket)
  }

  #durable(group: readonly Job[]): void {
    for (const { changes } of group) {
      for (const change of changes) {
        applyChange(this.#state, change)
        this.#writeBehind.forget(change.collection, change.key)
      }
      if (this.#changeListeners.size > 0) this.#tell(changes)
    }
    for (const job of group) {
      // Does nothing when the caller was told of the deadline already: then memory follows the disk all the same.
      job.succeed()
      this.#end(job)
    }
  }

  #refused(group: readonly Job[], error: unknown): void {
    for (const job of group) {
      job.fail(storageError(error))
      this.#end(job)
    }
  }

  #flushed(milliseconds: number): void {
    for (const listener of this.#flushListeners) listener(milliseconds)
    // Its failure is told by onHealth.
    if (this.#closed === undefined && this.#snapshots.due) this.#snapshots.run().catch(() => undefined)
  }

  #tell(changes: readonly Change[]): void {
    for (const listener of this.#changeListeners) {
      try {
        listener(changes)
      } catch (error) {
        this.#options.onListenerError(error)
      }
    }
  }

  /** One timer for all: it looks at the oldest when that is due. */
  #watchDeadlines(wait: number): void {
    this.#deadlineTimer = setTimeout(() => {
      this.#deadlineTimer = undefined
      const deadline = this.#options.deadlineMs()
      const now = performance.now()
      let next = Number.POSITIVE_INFINITY
      for (const job of [...this.#live]) {
        const remaining = job.since + deadline - now
        if (remaining > 0) next = Math.min(next, remaining)
        else this.#expire(job)
      }
      if (next !== Number.POSITIVE_INFINITY) this.#watchDeadlines(next)
    }, wait)
    this.#deadlineTimer.unref()
  }

  /** Tells the caller that it takes too long. What is being written keeps its locks until the disk has said what became of it. */
  #expire(job: Job): void {
    job.fail(new ApiError('storage', { reason: 'the disk did not answer in time' }))
    this.#live.delete(job)
    job.cancelled = true
    if (this.#commit.remove(job)) this.#locks.release(job.ticket)
  }

  /** Since when the disk has not answered, by performance.now(); 0: it answers. */
  #stuckSince(): number {
    const since = this.#commit.waitingSince
    if (since === 0) return 0
    return this.#commit.stalled || performance.now() - since > slowFlush ? since : 0
  }

  #health(part: 'journal' | 'files', error: unknown): void {
    const { notices, clock } = this.#options
    const text = error === undefined ? undefined : reasonOf(error)
    if (part === 'journal') this.#journalError = text
    else this.#filesError = text
    if (text === undefined) {
      notices.add({ level: 'info', at: clock(), code: 'diskBack', message: 'The disk takes changes again.' })
      return
    }
    const what = part === 'journal' ? 'Changes are refused until it does' : 'Changes are still stored in the journal'
    notices.add({
      level: 'error',
      at: clock(),
      code: 'diskRefused',
      message: `The disk does not take the ${part} (${text}). ${what}.`,
    })
  }

  async #shutDown(): Promise<void> {
    const { deadlineMs, unlock, journal } = this.#options
    const work = async () => {
      await this.#commit.drain()
      const { journalBytes } = this.#snapshots
      const records = this.#state.rooms.size + this.#state.sessions.size + this.#state.devices.size
      // Quitting is quick: only what is cheap, or saves the next start much. A failure is told by onHealth; the journal has everything.
      if (journalBytes > 0 && (records <= cheapRecords || journalBytes > this.#options.snapshots.after / 2))
        await this.rewrite().catch(() => undefined)
      await this.#snapshots.idle()
      await journal.rotate()
    }
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new ApiError('storage', { reason: 'the disk did not answer while the store closed' })),
        deadlineMs(),
      )
    })
    try {
      // Past the deadline the lock stays: a write may still be under way, and the lock ends with the process.
      await Promise.race([work(), late])
    } finally {
      clearTimeout(timer)
      clearTimeout(this.#deadlineTimer)
    }
    await unlock()
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function storageError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError('storage', { reason: reasonOf(error), cause: error })
}

function backupError(name: string, error: unknown): ApiError {
  if (hasCode(error, 'ENOENT'))
    return new ApiError('parameter', { message: `There is no backup ${JSON.stringify(name)}.`, field: 'name' })
  return new ApiError('storage', {
    message: `The backup ${name} cannot be read.`,
    reason: reasonOf(error),
    cause: error,
  })
}
