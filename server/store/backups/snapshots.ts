import { monotonic } from '../system/time.ts'
import { makeBackup, type BackupRetention } from './backups.ts'
import type { Sealer } from '../sealer.ts'
import type { Storage } from '../storage.ts'
import type { StoreBackup } from '../store.ts'

export interface SnapshotsOptions {
  /** Data folder, which holds backups even if the state is in a database. */
  folder: string
  storage: Storage
  sealer: Pick<Sealer, 'proof'>
  /** Runs a task while no flush is under way. */
  between: <R>(task: () => Promise<R>) => Promise<R>
  clock: () => number
  /** Returns the backups of the site, the newest first. */
  backups: () => Promise<readonly StoreBackup[]>
  onMade: (backup: StoreBackup) => Promise<void>
  retention: () => BackupRetention
  /** Size of the journal that triggers a snapshot, in bytes. */
  after: number
  /** Interval of automatic backups, in milliseconds. Infinity: none. Default: an hour. */
  backupEveryMs: number | undefined
  /** Called with the error when a snapshot fails, and with undefined when the next snapshot succeeds. */
  onHealth: (error: unknown) => void
}

/** Default size of the journal that triggers a snapshot, in bytes. */
export const defaultSnapshotAfter = 16 * 1024 * 1024
/** Default interval of automatic backups, in milliseconds. */
const defaultBackupEvery = 60 * 60_000
/** Delay after a failed snapshot, in milliseconds. */
const retryAfter = 30_000

/**
 * Makes snapshots of the state, and backups of the snapshots, one at a time. A snapshot allows the journal to be
 * truncated.
 */
export class BackupSnapshots {
  readonly #options: SnapshotsOptions
  #turn: Promise<unknown> = Promise.resolve()
  #running = 0
  #retryAt = 0
  #failed = false
  /** Time of the newest backup; undefined: not read yet. */
  #backupAt: number | undefined

  constructor(options: SnapshotsOptions) {
    this.#options = options
  }

  /**
   * Whether the journal is large enough for a snapshot. The journal must be at least as large as the last snapshot, so
   * that the cost of rewriting stays proportional.
   */
  get due(): boolean {
    const { storage, after } = this.#options
    if (this.#running > 0 || storage.journalBytes < Math.max(after, storage.snapshotBytes)) return false
    return monotonic() >= this.#retryAt
  }

  /** Resolves when no snapshot or backup is being written. */
  async idle(): Promise<void> {
    while (this.#running > 0) await this.#turn
  }

  /** Makes a snapshot, and a backup if the last backup is older than the interval. */
  run(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#write()
      const backupEvery = this.#options.backupEveryMs ?? defaultBackupEvery
      if (backupEvery === Number.POSITIVE_INFINITY) return
      const at =
        this.#backupAt ??
        (await this.#options.backups()).find(({ uploaded }) => !uploaded)?.at ??
        Number.NEGATIVE_INFINITY
      this.#backupAt = at
      // If the clock was set back, the difference counts as elapsed time.
      if (Math.abs(this.#options.clock() - at) >= backupEvery) await this.#copy()
    })
  }

  /** Makes a snapshot and a backup of it. @param kept true: only the operator deletes the backup */
  backUp(kept: boolean): Promise<StoreBackup> {
    return this.#inTurn(async () => {
      await this.#write()
      return await this.#copy(kept)
    })
  }

  #inTurn<R>(job: () => Promise<R>): Promise<R> {
    this.#running++
    const turn = this.#turn.then(job)
    const ended = turn.then(
      () => this.#ended(undefined),
      (error: unknown) => this.#ended(error),
    )
    this.#turn = ended
    return turn
  }

  #ended(error: unknown): void {
    this.#running--
    if (error !== undefined) this.#retryAt = monotonic() + retryAfter
    if (error !== undefined || this.#failed) this.#options.onHealth(error)
    this.#failed = error !== undefined
  }

  async #copy(kept = false): Promise<StoreBackup> {
    const { folder, storage, sealer, clock, retention, backups, onMade } = this.#options
    const documents = (into: string): Promise<void> => storage.writeDocuments(into)
    // If the state is in a database, so is the event log.
    const events = storage.medium === 'disk'
    const backup = await makeBackup(folder, clock(), {
      ...{ documents, sealer, kept, events },
      retention: retention(),
      before: await backups(),
    })
    this.#backupAt = backup.at
    await onMade(backup)
    return backup
  }

  async #write(): Promise<void> {
    const { between, storage } = this.#options
    // `beginSnapshot` returns the function that completes the snapshot, so that flushes wait for the beginning only.
    const write = await between(() => storage.beginSnapshot())
    await write()
  }
}
