import { monotonic } from '../system/time.ts'
import { makeBackup, type Retention } from './backups.ts'
import type { Sealer } from '../sealer.ts'
import type { Storage } from '../storage.ts'
import type { StoreBackup } from '../store.ts'

export interface SnapshotsOptions {
  /** The data folder: backups are in it, wherever the state is. */
  folder: string
  storage: Storage
  /** Proves backups. */
  sealer: Pick<Sealer, 'proof'>
  /** Runs a task while no flush is under way. */
  between: <R>(task: () => Promise<R>) => Promise<R>
  clock: () => number
  /** The backups of the site, the newest first. */
  backups: () => Promise<readonly StoreBackup[]>
  /** Called with each backup that was made. */
  onMade: (backup: StoreBackup) => Promise<void>
  /** How many backups stay that nobody keeps, and for how long. */
  retention: () => Retention
  /** Journal bytes after which a snapshot is made. */
  after: number
  /** Between two backups made by themselves, in milliseconds. Infinite: none is made. Default: an hour. */
  backupEveryMs: number | undefined
  /** A snapshot could not be made (with the error), or could again (undefined). */
  onHealth: (error: unknown) => void
}

/** Journal bytes after which a snapshot is made, without another word. */
export const defaultSnapshotAfter = 16 * 1024 * 1024
/** Between two backups made by themselves, in milliseconds, without another word. */
const defaultBackupEvery = 60 * 60_000
/** After a snapshot could not be made, in milliseconds. */
const retryAfter = 30_000

/** When the state is written out whole, so that the journal can be cut; and the backups made of it. One at a time. */
export class Snapshots {
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

  /** Whether the journal has grown enough: as large as the snapshot, so that what is written twice stays in proportion. */
  get due(): boolean {
    const { storage, after } = this.#options
    if (this.#running > 0 || storage.journalBytes < Math.max(after, storage.snapshotBytes)) return false
    return monotonic() >= this.#retryAt
  }

  /** Resolves when nothing is being written. */
  async idle(): Promise<void> {
    while (this.#running > 0) await this.#turn
  }

  /** Makes a snapshot, and a backup when the last is an hour old. */
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
      // A clock that was set back counts as time that has passed.
      if (Math.abs(this.#options.clock() - at) >= backupEvery) await this.#copy()
    })
  }

  /** Makes a snapshot and backs it up. @param kept until the operator deletes it */
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
    // The event log of a site in a database is there.
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
    // A function, so that the turn between two flushes ends before the snapshot is written.
    const write = await between(() => storage.beginSnapshot())
    await write()
  }
}
