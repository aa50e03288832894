import { inTime, monotonic, startTimer, timeoutSignal } from '../system/time.ts'
import { mustNotFail } from '../../../shared/unawaited.ts'
import { withoutCause } from '../change-cause.ts'
import { StorageHealth } from './storage-health.ts'
import { applyChange, ChangeListeners, changeOf, type State } from '../state.ts'
import { soleLeadership } from '../leadership.ts'
import { Restore } from '../backups/restore.ts'
import { KeptBackups, type SiteBackups } from '../backups/kept-backups.ts'
import type { BackupRetention } from '../backups/backups.ts'
import { defaultSnapshotAfter, BackupSnapshots } from '../backups/snapshots.ts'
import { GroupCommit } from '../journal/group-commit.ts'
import { WriteBehindQueue } from '../journal/write-queues.ts'
import type { Migrations } from '../migrations.ts'
import type { Notices } from '../notices.ts'
import type { Losses } from '../files/losses.ts'
import type { SealedPlace } from '../sealer.ts'
import type { Sealer } from '../sealer.ts'
import { siteSettings, unsealIn } from '../site-settings.ts'
import { type FlushGate, notStored, outcomeUnknown, refusedError, type Storage, storageError } from '../storage.ts'
import type {
  ChangeListener,
  CollectionName,
  Collections,
  Leadership,
  Store,
  StoreStatus,
  Transaction,
} from '../store.ts'
import { consequencesOf } from '../transactions/consequences.ts'
import type { Job } from '../transactions/job.ts'
import { Transactions } from '../transactions/transactions.ts'

/** Duration of a flush after which the disk counts as not answering, in milliseconds. */
const slowFlush = 100
/** Maximum number of records for which closing always writes a snapshot: writing takes a few milliseconds. */
const cheapRecords = 5_000
/**
 * Minimum deadline for closing, in milliseconds, even if the deadline of a change is shorter: closing may write a
 * snapshot.
 */
const closeMs = 5_000

export interface DurableStoreOptions {
  folder: string
  state: State
  storage: Storage
  /**
   * Size of the journal that triggers a snapshot, in bytes; the journal must also be at least as large as the last
   * snapshot. Default: 16 MiB.
   */
  snapshotAfterBytes: number | undefined
  backupEveryMs?: number | undefined
  sealer: Sealer
  notices: Notices
  losses: Losses
  clock: () => number
  /** Returns the maximum duration of a change, in milliseconds. Default: the setting. */
  deadlineMs: (() => number) | undefined
  migrations: Migrations
  /** The highest room number ever assigned: shared with the storage, which stores it. */
  roomNumbers: { last: number }
  unlock: () => Promise<void>
  /**
   * Creates the backups of a site whose state is in a database. Left out: backups are in the data folder only.
   * @param retention limits of automatic backups
   */
  shareBackups?: (kept: KeptBackups, retention: () => BackupRetention) => SiteBackups
  /** See StoreOptions. */
  flushGate: FlushGate | undefined
  /** Called with an unexpected error of a listener or other code. */
  onError: (error: unknown) => void
}

/** Store that holds its state in memory, and writes all changes to a storage. */
export class DurableStore implements Store {
  readonly #options: DurableStoreOptions
  readonly #state: State
  readonly #deadlineMs: () => number
  readonly #snapshotAfter: number
  readonly #writeBehind = new WriteBehindQueue()
  readonly #commit: GroupCommit<Job>
  readonly #transactions: Transactions
  readonly snapshots: BackupSnapshots
  readonly backups: SiteBackups
  readonly restore: Restore
  readonly notices: Notices
  readonly #health: StorageHealth
  readonly #changeListeners = new ChangeListeners()
  readonly #flushListeners = new Set<(milliseconds: number) => void>()
  readonly #leadership = soleLeadership(this)
  #closed: Promise<void> | undefined

  constructor(options: DurableStoreOptions) {
    const { folder, state, storage, migrations, roomNumbers, notices, clock } = options
    this.#options = options
    this.notices = notices
    this.#state = state
    this.#deadlineMs = options.deadlineMs ?? (() => siteSettings(this).deadlines.store_ms)
    this.#snapshotAfter = options.snapshotAfterBytes ?? defaultSnapshotAfter
    this.#health = new StorageHealth(storage.medium, notices, clock)
    this.#commit = new GroupCommit<Job>({
      storage,
      writeBehind: this.#writeBehind,
      flushGate: options.flushGate,
      onDurable: (group) => this.#durable(group),
      onRefused: (group, error) => this.#transactions.failed(group, refusedError(error)),
      onFlush: (milliseconds) => this.#flushed(milliseconds),
      onHealth: (error) => this.#health.changed('journal', error),
      onError: options.onError,
    })
    this.#transactions = new Transactions({
      state,
      commit: this.#commit,
      deadlineMs: this.#deadlineMs,
      medium: storage.medium,
      consequences: (changes, pending, cause) => consequencesOf({ state, pending }, changes, cause, clock()),
    })
    const retention = (): BackupRetention => siteSettings(this).backups
    this.snapshots = new BackupSnapshots({
      folder,
      storage,
      sealer: options.sealer,
      clock,
      after: this.#snapshotAfter,
      backupEveryMs: options.backupEveryMs,
      backups: () => this.backups.list(),
      onMade: (backup) => this.backups.made(backup),
      retention,
      between: (task) => this.#commit.between(task),
      onHealth: (error) => this.#health.changed('snapshot', error),
    })
    const kept = new KeptBackups({ ...options, backUp: (isKept) => this.snapshots.backUp(isKept) })
    this.backups = options.shareBackups?.(kept, retention) ?? kept
    const [transactions, commit, backups] = [this.#transactions, this.#commit, this.backups]
    const { sealer } = options
    this.restore = new Restore({
      ...{ folder, state, migrations, sealer, transactions, commit, roomNumbers, backups, notices, clock },
    })
  }

  get leadership(): Leadership {
    return this.#leadership
  }

  get<C extends CollectionName>(collection: C, key: string): Collections[C] | undefined {
    const map: Map<string, Collections[C]> = this.#state[collection]
    return map.get(key)
  }

  all<C extends CollectionName>(collection: C): ReadonlyMap<string, Collections[C]> {
    return this.#state[collection]
  }

  transact<T>(locks: readonly string[], plan: (transaction: Transaction) => T): Promise<T> {
    if (this.#closed !== undefined) return Promise.reject(notStored('the store is closed'))
    return this.#transactions.run(locks, plan)
  }

  writeBehind<C extends CollectionName>(collection: C, key: string, value: Collections[C] | undefined): void {
    const change = changeOf(collection, key, value)
    const before = applyChange(this.#state, change)
    this.#writeBehind.add(change, before !== undefined)
    if (this.#writeBehind.size > 0) this.#commit.addedBehind()
    this.#notify([change], [before])
  }

  nextRoomNumber(): number {
    return ++this.#options.roomNumbers.last
  }

  responsive(deadlineMs: number): Promise<void> | undefined {
    const since = this.#stuckSince()
    if (since === 0) return undefined
    return new Promise((resolve, reject) => {
      const late = () => reject(notStored(`the ${this.#options.storage.medium} does not answer`))
      const remaining = since + deadlineMs - monotonic()
      if (remaining <= 0) {
        late()
        return
      }
      const timer = startTimer(remaining, late)
      const flushed = this.#commit.progress.nextFlush().then(() => {
        timer.cancel()
        resolve()
      })
      mustNotFail(flushed)
    })
  }

  onChange(listener: ChangeListener, of?: readonly CollectionName[]): () => void {
    return this.#changeListeners.add(listener, of)
  }

  onFlush(listener: (milliseconds: number) => void): () => void {
    this.#flushListeners.add(listener)
    return () => void this.#flushListeners.delete(listener)
  }

  status(): StoreStatus {
    const since = this.#commit.progress.waitingSince
    const { lastError, refusesSince } = this.#health
    return {
      medium: this.#options.storage.medium,
      healthy: lastError === undefined,
      lastError,
      refusesSince,
      backlog: this.#commit.backlog,
      flushingFor: since === 0 ? 0 : monotonic() - since,
      lastFlush: this.#commit.progress.lastFlush,
      journalBytes: this.#options.storage.journalBytes,
      snapshotAt: this.#options.storage.snapshotAt,
      notices: this.notices.all,
      losses: this.#options.losses.all,
    }
  }

  keyFor(purpose: string): Buffer {
    return this.#options.sealer.keyFor(purpose)
  }

  seal(secret: string, place: SealedPlace): string {
    return this.#options.sealer.seal(secret, place)
  }

  unseal(sealed: string, place: SealedPlace): string {
    return unsealIn(this, this.#options.sealer, sealed, place)
  }

  reseal(sealed: string, place: SealedPlace): string {
    return this.#options.sealer.reseal(sealed, place)
  }

  async dismissLosses(): Promise<void> {
    try {
      await this.#options.losses.dismiss()
    } catch (error) {
      throw storageError(error)
    }
  }

  /** Maximum duration of a change, in milliseconds. */
  protected get deadlineMs(): number {
    return this.#deadlineMs()
  }

  /**
   * Whether replicas hold the whole state in memory, too. If so, a takeover does not read the state, and closing needs
   * no snapshot.
   */
  protected isFollowed(): boolean {
    return false
  }

  /**
   * Stops starting changes until the returned function is called. Resolves when all started changes are stored.
   * @throws ApiError 'storage' when storing takes longer than `deadlineMs`; changes then start again
   */
  protected async holdChanges(deadlineMs: number): Promise<() => void> {
    this.#transactions.hold()
    const resume = (): void => this.#transactions.release()
    try {
      await this.#commit.flushAll(timeoutSignal(deadlineMs))
      return resume
    } catch {
      resume()
      throw notStored(`the ${this.#options.storage.medium} did not answer in time`)
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#shutDown()
    return this.#closed
  }

  #durable(group: readonly Job[]): void {
    // A flush serves many calls, but runs in the async context of a single call.
    withoutCause(() => {
      for (const job of group) {
        const { changes } = job
        const before = changes.map((change) => {
          this.#writeBehind.forget(change.collection, change.key)
          return applyChange(this.#state, change)
        })
        this.#transactions.applied(job, before)
        this.#notify(changes, before)
      }
      this.#transactions.succeeded(group)
    })
  }

  #flushed(milliseconds: number): void {
    for (const listener of this.#flushListeners) this.#guarded(() => listener(milliseconds))
    // onHealth reports a failure.
    if (this.#closed === undefined && this.snapshots.due) this.snapshots.run().catch(() => undefined)
  }

  #notify(...[changes, before]: Parameters<ChangeListener>): void {
    this.#changeListeners.notify(changes, before, (run) => this.#guarded(run))
  }

  #guarded(call: () => void): void {
    try {
      call()
    } catch (error) {
      this.#options.onError(error)
    }
  }

  /** Time since which the storage has not answered, by monotonic(); 0: the storage answers. */
  #stuckSince(): number {
    const since = this.#commit.progress.waitingSince
    if (since === 0) return 0
    return this.#commit.progress.blocked || monotonic() - since > slowFlush ? since : 0
  }

  async #shutDown(): Promise<void> {
    const { unlock, storage } = this.#options
    const work = async () => {
      await this.restore.close()
      await this.#commit.drain()
      const { journalBytes } = storage
      const records = this.#state.rooms.size + this.#state.sessions.size + this.#state.devices.size
      // Closing is quick: a snapshot is written only if it is cheap or makes the next start much faster.
      const saves = !this.isFollowed() && journalBytes > this.#snapshotAfter / 2
      // onHealth reports a failure. The journal contains every change.
      if (journalBytes > 0 && (records <= cheapRecords || saves)) await this.snapshots.run().catch(() => undefined)
      await this.snapshots.idle()
      await this.backups.close()
      await storage.close()
    }
    const reason = `the ${storage.medium} did not answer while the store closed`
    try {
      // After the deadline the lock is kept, because a write may still be under way. The lock ends with the process.
      await inTime(work(), Math.max(this.#deadlineMs(), closeMs), () => outcomeUnknown(reason))
    } finally {
      storage.abandon()
      this.#transactions.close()
    }
    await unlock()
  }
}
