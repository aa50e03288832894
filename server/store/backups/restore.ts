import { hasCode } from '../../../shared/error-code.ts'
import { insideOf } from '../../../shared/files/own-path.ts'
import { refusal } from '../../../shared/refusals/refusal.ts'
import { ApiError } from '../../../shared/result-codes.ts'
import { accessChanges, difference, endedSessions, restoredCapabilities } from './restore-changes.ts'
import { readFolder, type Recovered } from '../files/recovery.ts'
import type { GroupCommit } from '../journal/group-commit.ts'
import { type Migrations, migrations } from '../migrations.ts'
import { placeOfRecord, sealedCollections, sealedTextOf, withSealedText, withTrashTexts } from '../sealed-places.ts'
import { isOutdated, type Sealer } from '../sealer.ts'
import { resealed, sealedMarks, withoutClearSecrets, withPlacedSecrets } from '../site-settings.ts'
import { applyChange, changeOf, emptyState, type State } from '../state.ts'
import { notStored, storageError, storageReasonOf } from '../storage.ts'
import type { Notices } from '../notices.ts'
import type { StoreBackup, StoreBackupPreview } from '../store.ts'
import { turn, wallClock } from '../system/time.ts'
import type { Job } from '../transactions/job.ts'
import type { Transactions } from '../transactions/transactions.ts'
import { backupsFolder } from '../files/documents.ts'
import { parseBackupName } from './backups.ts'

export interface RestoreOptions {
  folder: string
  state: State
  migrations: Migrations
  sealer: Sealer
  transactions: Pick<Transactions, 'hold' | 'release' | 'commit'>
  commit: Pick<GroupCommit<Job>, 'whenEmpty'>
  /** The highest room number ever assigned: never lowered. */
  roomNumbers: { last: number }
  backups: {
    make(): Promise<StoreBackup>
    /** Copies a backup from the database into the data folder, if the folder lacks it. @throws ApiError */
    bring(name: string): Promise<void>
  }
  notices: Pick<Notices, 'add'>
  /** Milliseconds since the epoch. */
  clock: () => number
}

/** Restores the state from a backup. Only one restore runs at a time. No restore starts while the store closes. */
export class Restore {
  readonly #options: RestoreOptions
  #running: Promise<void> | undefined
  #closed = false

  constructor(options: RestoreOptions) {
    this.#options = options
  }

  /** See StoreRestore. */
  run(name: string): Promise<void> {
    if (this.#running !== undefined) return Promise.reject(notStored('another restore is under way'))
    if (this.#closed) return Promise.reject(closing())
    this.#running = this.#restore(name).finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  /** See StoreRestore. */
  async preview(name: string): Promise<StoreBackupPreview> {
    const { folder, migrations, state, backups } = this.#options
    await backups.bring(name)
    try {
      return await previewBackup(folder, name, migrations, state)
    } catch (error) {
      throw backupError(name, error)
    }
  }

  /** Stops a restore that has not changed anything yet; otherwise waits for its end. */
  async close(): Promise<void> {
    this.#closed = true
    // The caller of `run` handles a failure.
    await this.#running?.catch(() => undefined)
  }

  async #restore(name: string): Promise<void> {
    const { folder, state, migrations, sealer, transactions, commit, roomNumbers, backups, notices, clock } =
      this.#options
    await backups.bring(name)
    const restored = await readBackup(folder, name, migrations).catch((error: unknown) => {
      throw backupError(name, error)
    })
    // Reseals secrets without a place first, because the site may reject such secrets.
    await resealState(restored.state, sealer)
    this.#goOn()
    await backups.make()
    this.#goOn()
    transactions.hold()
    try {
      await commit.whenEmpty()
      // Seals secrets first: a backup of an earlier version may contain them in clear text.
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
    const message = `The backup ${name} was restored; what was there before is the backup made just before it.`
    notices.add({ level: 'info', at: clock(), code: 'restored', message })
  }

  #goOn(): void {
    if (this.#closed) throw closing()
  }
}

function closing(): ApiError {
  return notStored('the store is closed')
}

/** Returns the error for the caller of an operation on a backup. */
export function backupError(name: string, error: unknown): ApiError {
  if (hasCode(error, 'ENOENT'))
    return new ApiError('parameter', { refusal: refusal('backupNotFound', { name }), field: 'name' })
  return new ApiError('storage', {
    refusal: refusal('backupUnreadable', { name }),
    reason: storageReasonOf(error),
    cause: error,
  })
}

/** Reads the state in a backup. @throws DamagedFileError, or ENOENT when no backup has this name */
export async function readBackup(folder: string, name: string, known: Migrations = migrations): Promise<Recovered> {
  if (parseBackupName(name) === undefined)
    throw Object.assign(new Error(`There is no backup ${name}.`), { code: 'ENOENT' })
  return await readFolder(insideOf(folder, backupsFolder, name), known)
}

/**
 * Counts the records of a backup, and determines how a restore would change accounts and tokens.
 * @param now current state, which a restore would replace
 * @throws DamagedFileError, or ENOENT when no backup has this name
 */
export async function previewBackup(
  folder: string,
  name: string,
  known: Migrations = migrations,
  now: State = emptyState(),
): Promise<StoreBackupPreview> {
  const { state } = await readBackup(folder, name, known)
  return {
    name,
    at: parseBackupName(name)?.at ?? 0,
    rooms: state.rooms.size,
    credentials: state.credentials.size,
    nodes: state.nodes.size,
    devices: state.devices.size,
    accounts: state.accounts.size,
    access_tokens: state.access_tokens.size,
    wall_views: state.wall_views.size,
    access: accessChanges(now, state, wallClock()),
  }
}

/** Number of records processed before yielding to the event loop: a few milliseconds if all are resealed. */
const chunk = 200

/**
 * Reseals every outdated text of a state for its place, and marks the state as sealed. A text that cannot be unsealed
 * stays unchanged.
 */
async function resealState(state: State, sealer: Pick<Sealer, 'reseal'>): Promise<void> {
  let seen = 0
  for (const collection of sealedCollections)
    for (const [key, record] of state[collection]) {
      const text = sealedTextOf(collection, record)
      const place = placeOfRecord(collection, key, record)
      if (isOutdated(text, place)) {
        const after = withSealedText(collection, record, resealed(text, place, sealer))
        applyChange(state, changeOf(collection, key, after))
      }
      if (++seen % chunk === 0) await turn()
    }
  for (const [id, entry] of state.trash) {
    state.trash.set(
      id,
      withTrashTexts(entry, (text, place) => (isOutdated(text, place) ? resealed(text, place, sealer) : text)),
    )
    if (++seen % chunk === 0) await turn()
  }
  const settings = state.settings.get('site')
  if (settings !== undefined) state.settings.set('site', { ...withPlacedSecrets(settings, sealer), ...sealedMarks })
}
