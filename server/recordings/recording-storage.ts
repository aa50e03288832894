import type { RecordingSettings } from '../../shared/settings/recording.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import type { Store } from '../store/store.ts'
import { FileRemoval } from './file-removal.ts'
import { StoredIndex } from './index/stored-index.ts'
import type { KeptSpans } from './kept-spans.ts'
import { RecordingNotes } from './notes/recording-notes.ts'
import type { RecordingRate } from './recording-rate.ts'
import { RecordingRetention } from './retention.ts'
import { SpaceBudget } from './space-budget.ts'
import { type Space, StorageWatch } from './storage-watch.ts'

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
