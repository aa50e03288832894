import { rmdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { insideOf, type OwnPath, PathError } from '../../shared/files/own-path.ts'
import { removeInside } from '../../shared/files/real-path.ts'
import { recordedPath } from '../../shared/files/recorded-path.ts'
import type { RecordingSettings } from '../../shared/settings/recording.ts'
import { sleep } from '../../shared/sleep.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import type { Store } from '../store/store.ts'
import { type RecordingRate, type Space, SpaceBudget, StorageWatch } from './disk-space.ts'
import { StoredIndex } from './index/stored-index.ts'
import type { KeptSpans } from './kept-spans.ts'
import { RecordingNotes, removeNotedDays } from './recording-notes.ts'
import { RecordingRetention } from './retention.ts'

/** Index and space of the recordings folder. Exists only if the folder is usable. */
export interface RecordingStorage {
  /** Path of the folder. */
  folder: string
  index: StoredIndex
  notes: RecordingNotes
  watch: StorageWatch
  retention: RecordingRetention
  removal: FileRemoval
  /** Budget for files other than recordings on the disk. */
  budget: SpaceBudget
}

interface StorageDependencies {
  folder: string
  /** Folder of the index. */
  indexFolder: string
  store: Store
  settings: () => RecordingSettings
  /** Hours for which uploaded segments stay on the disk. */
  localHours: () => number
  /** Whether finished segments should be uploaded. */
  isUploading: () => boolean
  /** See `notUploaded` of RetentionDependencies. */
  notUploaded: (bytes: number) => void
  rate: RecordingRate
  kept: KeptSpans
  /** Whether anything is being recorded. */
  isBusy: () => boolean
  /** Called when the disk is nearly full, or has space again. */
  lowChanged: (low: boolean, space: Space) => void
  /** Called when the index was damaged and was replaced by an empty index. */
  damaged: (reason: string) => void
  /** Called when files were removed from the disk. */
  removed: () => void
  logger: NodeLogger
  measure?: ((folder: string) => Promise<Pick<Space, 'free' | 'capacity'>>) | undefined
}

/** Opens the storage without measuring or deleting anything yet. */
export function openStorage(dependencies: StorageDependencies): RecordingStorage {
  const {
    folder,
    indexFolder,
    store,
    settings,
    localHours,
    isUploading,
    notUploaded,
    rate,
    kept,
    isBusy,
    lowChanged,
    damaged,
    removed,
    logger,
    measure,
  } = dependencies
  const notes = new RecordingNotes(folder, logger)
  const index = new StoredIndex({ folder: indexFolder, kept, onDamage: damaged, notes })
  const removal = new FileRemoval({ folder, store, index, removed, logger })
  const retention = new RecordingRetention({
    ...{ store, index, settings, localHours, isUploading, notUploaded, logger },
    deleted: () => removal.begin(),
  })
  const watch = new StorageWatch({
    ...{ folder, settings, isBusy, lowChanged, logger, measure },
    rate: () => rate.perSecond(Date.now()),
    measured: (space) => retention.makeRoom(space, removal.waitingBytes),
  })
  const budget = new SpaceBudget(async () => {
    await watch.look()
    return watch.space
  })
  return { folder, index, notes, watch, retention, removal, budget }
}

/** Number of files removed per batch, and the pause after it in milliseconds: at most 400 files a second. */
const batch = 20
const pauseMs = 50
/** Pause after an error of the disk, in milliseconds. */
const retryMs = 5_000

interface FileRemovalDependencies {
  folder: string
  store: Pick<Store, 'leadership'>
  index: Pick<StoredIndex, 'deletions'>
  /** Called when files were removed from the disk, so that their objects can be deleted next. */
  removed?: (() => void) | undefined
  logger: NodeLogger
}

/**
 * Removes the files of deleted segments from the disk, a few at a time. Files that remain at the end of the program are
 * removed after the next start.
 */
export class FileRemoval {
  readonly #dependencies: FileRemovalDependencies
  #work: Promise<void> | undefined
  #stopped = false
  #failed = false

  constructor(dependencies: FileRemovalDependencies) {
    this.#dependencies = dependencies
  }

  /** Starts to remove files unless a run is in progress. */
  begin(): void {
    if (this.#stopped || !this.#dependencies.store.leadership.isHeld) return
    this.#work ??= this.#run().finally(() => {
      this.#work = undefined
    })
  }

  /** Number of files that still have to be removed. */
  get waiting(): number {
    return this.#dependencies.index.deletions.waitingRemovals().files
  }

  get waitingBytes(): number {
    return this.#dependencies.index.deletions.waitingRemovals().bytes
  }

  /** Resolves when no file is being removed. */
  async settled(): Promise<void> {
    await this.#work
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#work
  }

  async #run(): Promise<void> {
    const { store, index, logger } = this.#dependencies
    while (!this.#stopped && store.leadership.isHeld) {
      try {
        const files = index.deletions.removals(batch)
        if (files.length === 0) return
        await store.leadership.confirmed()
        await Promise.all(files.map(({ file }) => this.#remove(file)))
        await this.#removeNotes(files)
        index.deletions.removed(files.map(({ id }) => id))
        this.#dependencies.removed?.()
        this.#failed = false
        await sleep(pauseMs, { ref: false })
      } catch (error) {
        if (!this.#failed) logger.error({ err: error }, 'deleted recordings cannot be removed from the disk')
        this.#failed = true
        await sleep(retryMs, { ref: false })
      }
    }
  }

  async #remove(file: string): Promise<void> {
    const { folder } = this.#dependencies
    const path = pathOf(folder, file)
    // A row without a valid recording path is dropped: nothing is removed for it.
    if (path === undefined) return
    // Recursive, because the removal of a folder at this path would otherwise fail forever.
    await removeInside(folder, path, { recursive: true }).catch((error: unknown) => {
      if (!(error instanceof PathError)) throw error
    })
    // The folder of the day is removed after its last file; `rmdir` fails if it is not empty.
    const day = dirname(path)
    // The folder still contains other files of the day.
    if (day !== folder) await rmdir(day).catch(() => {})
  }

  /** Removes the notes of days whose last recording was removed. */
  async #removeNotes(files: readonly { file: string }[]): Promise<void> {
    const { folder } = this.#dependencies
    const streams = new Set(
      files.flatMap(({ file }) => {
        const parts = pathOf(folder, file) === undefined ? [] : file.split('/').slice(0, -2)
        return parts.length === 0 ? [] : [insideOf(folder, ...parts)]
      }),
    )
    for (const stream of streams) await removeNotedDays(folder, stream)
  }
}

/** Returns the path of the file of a row; undefined: the row contains no valid recording path. */
function pathOf(folder: string, file: string): OwnPath | undefined {
  try {
    return recordedPath(folder, file)
  } catch {
    // The caller drops the row.
    return undefined
  }
}
