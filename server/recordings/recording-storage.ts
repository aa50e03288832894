import type { RecordingSettings } from '../../shared/settings/recording.ts'
import type { RecordedStream } from '../../shared/recordings/segment.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import type { Store } from '../store/store.ts'
import { FileRemoval } from './file-removal.ts'
import { StoredIndex } from './index/stored-index.ts'
import { RecordingNotes } from './notes/recording-notes.ts'
import type { RecordingRate } from './recording-rate.ts'
import { RecordingRetention } from './retention.ts'
import { SpaceBudget } from './space-budget.ts'
import { type Space, StorageWatch } from './storage-watch.ts'

/** Index and space of the recordings folder: only where the folder can be used. */
export interface RecordingStorage {
  index: StoredIndex
  notes: RecordingNotes
  watch: StorageWatch
  retention: RecordingRetention
  removal: FileRemoval
  /** For files beside the recordings. */
  budget: SpaceBudget
}

/** Needs of the storage. */
interface StorageParts {
  folder: string
  /** Folder of the index. */
  indexFolder: string
  store: Store
  settings: () => RecordingSettings
  /** Hours for which uploaded segments stay on the disk. */
  localHours: () => number
  /** Finished segments are to be uploaded. */
  isUploading: () => boolean
  /** See RetentionParts. */
  notUploaded: (bytes: number) => void
  rate: RecordingRate
  /** Whether a span of a stream is kept whatever the retention. */
  isKept: (stream: RecordedStream, from: number, to: number) => boolean
  /** Something is being recorded. */
  isBusy: () => boolean
  /** The disk is nearly full, or has room again. */
  lowChanged: (low: boolean, space: Space) => void
  /** The index cannot be used and was begun anew. */
  damaged: (reason: string) => void
  /** Files left the disk. */
  removed: () => void
  logger: NodeLogger
  measure?: ((folder: string) => Promise<Pick<Space, 'free' | 'capacity'>>) | undefined
}

/** Opens the storage; nothing is measured or deleted yet. */
export function openStorage(parts: StorageParts): RecordingStorage {
  const {
    folder,
    indexFolder,
    store,
    settings,
    localHours,
    isUploading,
    notUploaded,
    rate,
    isKept,
    isBusy,
    lowChanged,
    damaged,
    removed,
    logger,
    measure,
  } = parts
  const notes = new RecordingNotes(folder, logger)
  const index = new StoredIndex({ folder: indexFolder, isKept, onDamage: damaged, notes })
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
  return { index, notes, watch, retention, removal, budget }
}
