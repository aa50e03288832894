import { errorCode, hasCode } from '../../shared/error-code.ts'
import { PathError } from '../../shared/files/own-path.ts'
import { openInside } from '../../shared/files/real-path.ts'
import { recordedPath } from '../../shared/files/recorded-path.ts'
import { mustNotFail } from '../../shared/unawaited.ts'
import type { Store } from '../store/store.ts'
import type { StoredIndex } from './index/stored-index.ts'
import { streamKey } from './index/stream-ids.ts'
import { wholePart } from './index/recorded-files.ts'
import type { IndexedSegment } from './recording-index.ts'
import { type RecordEvent, type RecordingEvent, recordingSubject } from './recording-events.ts'
import { isFolderPresent } from './recordings-folder.ts'

export interface MissingFilesDependencies {
  folder: string
  store: Pick<Store, 'unseal' | 'leadership'>
  index: Pick<StoredIndex, 'segment' | 'writer' | 'deletions'>
  event: RecordEvent
  /** Receives the number of segments that were removed from or shortened in the index. */
  lost: (segments: number) => void
  logger: { error(fields: object, message: string): void }
}

/** Segment whose file is incomplete. `left`: the part in the file; undefined: no media is left. */
interface Loss {
  segment: IndexedSegment
  left: IndexedSegment | undefined
}

/**
 * Removes segments from the index if other programs deleted or damaged their files, and shortens segments whose files
 * were cut off. Rows change only while the mark of the site proves that the folder is present. An unmounted disk
 * therefore causes no changes.
 */
export class MissingFiles {
  readonly #dependencies: MissingFilesDependencies
  readonly #found = new Set<number>()
  #work: Promise<void> | undefined

  constructor(dependencies: MissingFilesDependencies) {
    this.#dependencies = dependencies
  }

  /** Queues a check of a segment whose file is missing or was modified. */
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
    const { store, index, event, lost, logger } = this.#dependencies
    try {
      if (!store.leadership.isHeld) return
      await store.leadership.confirmed()
      const losses: Loss[] = []
      for (const id of ids) {
        const segment = index.segment(id)
        const loss = segment?.stored === 'local' ? await this.#lossOf(segment) : undefined
        if (loss !== undefined) losses.push(loss)
      }
      if (losses.length === 0) return
      for (const { segment, left } of losses) {
        if (left === undefined) index.deletions.forget(segment, segment.id)
        else index.writer.ended(left)
      }
      lost(losses.length)
      for (const ofStream of Map.groupBy(losses, ({ segment }) => streamKey(segment)).values()) {
        const [first] = ofStream
        if (first === undefined) continue
        const { roomId, userId } = first.segment
        const fields = { room: roomId, user: userId, segments: ofStream.length }
        logger.error(fields, 'files of recordings are missing or damaged')
        event(eventOf(first.segment, ofStream))
      }
    } catch (error) {
      logger.error({ err: error }, 'missing files of recordings could not be checked')
    }
  }

  /** Checks the mark of the folder before and after the file, because the disk may be unmounted in between. */
  async #lossOf(segment: IndexedSegment): Promise<Loss | undefined> {
    const { folder, store } = this.#dependencies
    if (!isFolderPresent(folder, store)) return undefined
    const left = await this.#leftOf(segment)
    return left === segment || !isFolderPresent(folder, store) ? undefined : { segment, left }
  }

  /**
   * Determines how much of a segment its file contains. Returns the segment itself or a shorter segment; undefined: no
   * media is left.
   */
  async #leftOf(segment: IndexedSegment): Promise<IndexedSegment | undefined> {
    const { folder, logger } = this.#dependencies
    try {
      const handle = await openInside(folder, recordedPath(folder, segment.file))
      try {
        const { size, durationMs } = await wholePart(handle, segment.container)
        if (durationMs === 0) return undefined
        const endedAt = Math.min(segment.endedAt, segment.startedAt + durationMs)
        return size < segment.bytes ? { ...segment, bytes: size, endedAt } : segment
      } finally {
        await handle.close()
      }
    } catch (error) {
      if (hasCode(error, 'ENOENT') || error instanceof PathError) return undefined
      logger.error({ err: error, code: errorCode(error) }, 'a file of a recording could not be checked')
      return segment
    }
  }
}

/** @param first any segment of the stream */
function eventOf({ roomId, userId, userName }: IndexedSegment, losses: readonly Loss[]): RecordingEvent {
  const segments = losses.map(({ segment }) => segment)
  return {
    kind: 'recording.filesMissing',
    level: 'warning',
    subject: recordingSubject(roomId, userId, userName),
    room: roomId,
    params: {
      from: Math.min(...segments.map(({ startedAt }) => startedAt)),
      to: Math.max(...segments.map(({ endedAt }) => endedAt)),
      segments: segments.length,
      bytes: losses.reduce((sum, { segment, left }) => sum + segment.bytes - (left?.bytes ?? 0), 0),
    },
  }
}
