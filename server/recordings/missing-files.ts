import { hasCode } from '../../shared/error-code.ts'
import { mustNotFail } from '../../shared/unawaited.ts'
import type { Store } from '../store/store.ts'
import type { StoredIndex } from './index/stored-index.ts'
import { streamKey } from './index/stream-ids.ts'
import { locate } from './playback/segment-sources.ts'
import type { IndexedSegment } from './recording-index.ts'
import { type RecordEvent, type RecordingEvent, recordingSubject } from './recording-events.ts'
import { isFolderPresent } from './recordings-folder.ts'

/** Dependencies of the missing files. */
export interface MissingFilesDependencies {
  folder: string
  store: Pick<Store, 'unseal' | 'leadership'>
  index: Pick<StoredIndex, 'segment' | 'forget'>
  event: RecordEvent
  /** Receives the number of segments that left the index. */
  lost: (segments: number) => void
  logger: { error(fields: object, message: string): void }
}

/**
 * Removes segments from the index whose files were deleted by others. A row is removed only while the folder is proven present, by the mark of its site:
 * a disk that is not mounted loses nothing.
 */
export class MissingFiles {
  readonly #parts: MissingFilesDependencies
  readonly #found = new Set<number>()
  #work: Promise<void> | undefined

  constructor(parts: MissingFilesDependencies) {
    this.#parts = parts
  }

  /** Notes a segment whose file was not found. */
  note(id: number): void {
    this.#found.add(id)
    if (this.#work !== undefined) return
    this.#work = this.#checkAll()
    mustNotFail(this.#work)
  }

  /** Resolves when no segment is being checked. */
  async settled(): Promise<void> {
    await this.#work
  }

  async #checkAll(): Promise<void> {
    while (this.#found.size > 0) {
      const ids = [...this.#found]
      this.#found.clear()
      await this.#check(ids)
    }
    this.#work = undefined
  }

  async #check(ids: readonly number[]): Promise<void> {
    const { store, index, event, lost, logger } = this.#parts
    try {
      if (!store.leadership.isHeld) return
      await store.leadership.confirmed()
      const gone: IndexedSegment[] = []
      for (const id of ids) {
        const segment = index.segment(id)
        if (segment?.stored === 'local' && (await this.#isGone(segment))) gone.push(segment)
      }
      if (gone.length === 0) return
      for (const segment of gone) index.forget(segment, segment.id)
      lost(gone.length)
      for (const segments of Map.groupBy(gone, streamKey).values()) {
        const [first] = segments
        if (first === undefined) continue
        const { roomId, userId } = first
        logger.error({ room: roomId, user: userId, segments: segments.length }, 'files of recordings are missing')
        event(eventOf(first, segments))
      }
    } catch (error) {
      logger.error({ err: error }, 'missing files of recordings could not be checked')
    }
  }

  /** The folder is looked at on both sides of the file: its disk may be unmounted in between. */
  async #isGone({ file }: IndexedSegment): Promise<boolean> {
    const { folder, store } = this.#parts
    if (!isFolderPresent(folder, store)) return false
    const isMissing = await locate(folder, file).then(
      () => false,
      (error: unknown) => hasCode(error, 'ENOENT'),
    )
    return isMissing && isFolderPresent(folder, store)
  }
}

/** @param first any segment of the stream */
function eventOf({ roomId, userId, userName }: IndexedSegment, segments: readonly IndexedSegment[]): RecordingEvent {
  return {
    kind: 'recording.filesMissing',
    level: 'warning',
    subject: recordingSubject(roomId, userId, userName),
    room: roomId,
    params: {
      from: Math.min(...segments.map(({ startedAt }) => startedAt)),
      to: Math.max(...segments.map(({ endedAt }) => endedAt)),
      segments: segments.length,
      bytes: segments.reduce((sum, { bytes }) => sum + bytes, 0),
    },
  }
}
