import { hasCode } from '../../../shared/error-code.ts'
import { ApiError } from '../../../shared/result-codes.ts'
import { refusal } from '../../../shared/refusals/refusal.ts'
import type { GroupCommit } from '../journal/group-commit.ts'
import type { Migrations } from '../migrations.ts'
import type { Sealer } from '../sealer.ts'
import { withoutClearSecrets } from '../site-settings.ts'
import { resealState } from '../files/reseal-state.ts'
import type { StoreBackup, StoreBackupPreview } from '../store.ts'
import { notStored, reasonOf, storageError } from '../storage-error.ts'
import type { Job } from '../transactions/job.ts'
import type { Transactions } from '../transactions/transactions.ts'
import { previewBackup, readBackup } from './backup-contents.ts'
import { difference, endedSessions, restoredCapabilities } from '../files/backup-difference.ts'
import type { State } from '../state.ts'

export interface RestoreOptions {
  folder: string
  state: State
  migrations: Migrations
  sealer: Sealer
  transactions: Pick<Transactions, 'hold' | 'release' | 'commit'>
  commit: Pick<GroupCommit<Job>, 'whenEmpty'>
  /** The highest room number ever given: never lowered. */
  roomNumbers: { last: number }
  makeBackup: () => Promise<StoreBackup>
  /** Puts the files of a backup into the data folder, if they are in the database alone. @throws ApiError */
  bring: (name: string) => Promise<void>
}

/** Puts the state back to what a backup holds: one at a time, and none that begins while the store closes. */
export class Restore {
  readonly #options: RestoreOptions
  #running: Promise<void> | undefined
  #closed = false

  constructor(options: RestoreOptions) {
    this.#options = options
  }

  /** See Store.restoreBackup. */
  run(name: string): Promise<void> {
    if (this.#running !== undefined) return Promise.reject(notStored('another restore is under way'))
    if (this.#closed) return Promise.reject(closing())
    this.#running = this.#restore(name).finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  /** See Store.previewBackup. */
  async preview(name: string): Promise<StoreBackupPreview> {
    const { folder, migrations, state, bring } = this.#options
    await bring(name)
    try {
      return await previewBackup(folder, name, migrations, state)
    } catch (error) {
      throw backupError(name, error)
    }
  }

  /** Stops a restore that has not changed anything yet, and waits for one that has. */
  async close(): Promise<void> {
    this.#closed = true
    // Its caller handles a failure.
    await this.#running?.catch(() => undefined)
  }

  async #restore(name: string): Promise<void> {
    const { folder, state, migrations, sealer, transactions, commit, roomNumbers, makeBackup, bring } = this.#options
    await bring(name)
    const restored = await readBackup(folder, name, migrations).catch((error: unknown) => {
      throw backupError(name, error)
    })
    // Nothing without a place comes back: the site may refuse it by now.
    await resealState(restored.state, sealer)
    this.#goOn()
    await makeBackup()
    this.#goOn()
    transactions.hold()
    try {
      await commit.whenEmpty()
      // A backup of an earlier version may hold secrets in clear: they are sealed on their way back.
      const sealed = withoutClearSecrets(restored.state.settings.get('site'), sealer)
      if (sealed !== undefined) restored.state.settings.set('site', sealed)
      const changes = await difference(state, restored.state)
      changes.push(...endedSessions(state, restored.state), ...restoredCapabilities(state, restored.state))
      this.#goOn()
      roomNumbers.last = Math.max(roomNumbers.last, restored.roomNumber)
      if (changes.length > 0) await transactions.commit(changes)
    } catch (error) {
      throw storageError(error)
    } finally {
      transactions.release()
    }
  }

  #goOn(): void {
    if (this.#closed) throw closing()
  }
}

function closing(): ApiError {
  return notStored('the store is closed')
}

/** Message of an error about a backup. */
export function backupError(name: string, error: unknown): ApiError {
  if (hasCode(error, 'ENOENT'))
    return new ApiError('parameter', { refusal: refusal('backupNotFound', { name }), field: 'name' })
  return new ApiError('storage', {
    refusal: refusal('backupUnreadable', { name }),
    reason: reasonOf(error),
    cause: error,
  })
}
