import { soleLeadership } from '../../../server/store/leadership.ts'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, onTestFinished } from 'vitest'
import { FileRemoval } from '../../../server/recordings/recording-storage.ts'
import { StoredIndex } from '../../../server/recordings/index/stored-index.ts'
import { ObjectStorage } from '../../../server/recordings/objects/object-storage.ts'
import { FragmentTables } from '../../../server/recordings/playback/fragment-table.ts'
import { RecordingPlayback } from '../../../server/recordings/playback/playback-handler.ts'
import { SegmentFiles } from '../../../server/recordings/playback/segment-sources.ts'
import type { ObjectProblem } from '../../../shared/recordings/object-storage.ts'
import type { ObjectStorageSettings } from '../../../shared/settings/recording.ts'
import { maySee } from '../recordings/may-see.ts'
import { record, type Recording } from '../recordings/recorded-files.ts'
import { sealer } from '../sites/store-site.ts'

const logger = pino({ level: 'silent' })

/** A folder of recordings with its index and object storage. */
export interface UploadedSite {
  folder: string
  index: StoredIndex
  objects: ObjectStorage
  removal: FileRemoval
  files: SegmentFiles
  tables: FragmentTables
  /** Reports of a storage that fails, and that can be used again. */
  failures: (ObjectProblem | undefined)[]
  /** Records a film, and returns the paths of its segments. */
  record(recording: Omit<Recording, 'folder'>): Promise<string[]>
  /** Places of all segments, in their order. */
  places(): string[]
  /** Lets all uploaded segments leave the disk, and waits until they have. */
  release(): Promise<void>
  /** Whether a file is on the disk. */
  isOnDisk(file: string): Promise<boolean>
  /** Asks the playback. */
  ask(path: string): Promise<Response>
  /** Ends it as the end of the program does. */
  stop(): Promise<void>
}

/** Opens the recordings of a folder; it stops with the test. */
export function uploadedSite(folder: string, settings: () => ObjectStorageSettings): UploadedSite {
  const index = new StoredIndex({ folder, kept: { covers: () => false }, onDamage: () => {} })
  const failures: (ObjectProblem | undefined)[] = []
  const nothing = { get: () => undefined, all: () => new Map() }
  const store = { ...sealer, leadership: soleLeadership(nothing) }
  const objects = new ObjectStorage({
    ...{ folder, index, store, settings, logger },
    sitePorts: () => [],
    isSettled: () => true,
    failing: (problem) => failures.push(problem),
    firstRetryMs: 20,
  })
  const removal = new FileRemoval({ folder, store, index, removed: () => objects.wake(), logger })
  const files = new SegmentFiles(folder, objects.remote)
  const tables = new FragmentTables(files)
  const port = { mayWatch: maySee, watched: () => {} }
  const playback = new RecordingPlayback({ files, index, tables, port })
  let stopped = false
  const stop = async (): Promise<void> => {
    if (stopped) return
    stopped = true
    await Promise.all([objects.stop(), removal.stop()])
    index.close()
  }
  onTestFinished(stop)
  objects.start()
  const site: UploadedSite = {
    ...{ folder, index, objects, removal, files, tables, failures, stop },
    async record(recording) {
      const segments = await record({ ...recording, folder })
      for (const segment of segments) index.writer.ended(segment)
      return segments.map(({ file }) => file)
    },
    places: () => index.segments({}).map(({ stored }) => stored),
    async release() {
      index.places.release(Number.MAX_SAFE_INTEGER, 1_000)
      removal.begin()
      await expect.poll(() => index.deletions.waitingRemovals().files).toBe(0)
    },
    isOnDisk: async (file) =>
      await stat(join(folder, file)).then(
        () => true,
        () => false,
      ),
    async ask(path) {
      const request = new Request(new URL(path, 'http://console.invalid'))
      return await playback.answer(request, {
        role: 'operator',
        account: 'olivia',
        accountId: 'olivia',
        address: '',
        scoped: true,
      })
    },
  }
  return site
}
