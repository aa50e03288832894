import { hasCode } from '../../shared/error-code.ts'
import type { RecordedStream } from '../../shared/recordings/segment.ts'
import { mustNotFail } from '../../shared/unawaited.ts'
import type { Store } from '../store/store.ts'
import type { StoredIndex } from './index/stored-index.ts'
import { locate } from './playback/segment-sources.ts'
import type { IndexedSegment } from './recording-index.ts'
import type { RecordEvent, RecordingEvent } from './recording-events.ts'
import { isFolderPresent } from './recordings-folder.ts'

/** Segments of one stream whose files are gone. */
interface LostSegments extends RecordedStream {
  userName: string
  segments: number
  bytes: number
  /** Milliseconds since the epoch. */
  from: number
  to: number
}

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
    this.#work ??= this.#check().finally(() => {
      this.#work = undefined
      if (this.#found.size > 0) this.note(this.#found.values().next().value ?? 0)
    })
    mustNotFail(this.#work)
  }

  /** Resolves when no segment is being checked. */
  async settled(): Promise<void> {
    await this.#work
  }

  async #check(): Promise<void> {
    const { store, index, event, lost, logger } = this.#parts
    const ids = [...this.#found]
    this.#found.clear()
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
      const streams = Map.groupBy(gone, ({ roomId, userId, source, quality }) =>
        JSON.stringify([roomId, userId, source, quality]),
      )
      for (const segments of streams.values()) {
        const sum = sumOf(segments)
        if (sum === undefined) continue
        logger.error({ room: sum.roomId, user: sum.userId, segments: sum.segments }, 'files of recordings are missing')
        lost(sum.segments)
        event(eventOf(sum))
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

function eventOf({ roomId, userId, userName, segments, bytes, from, to }: LostSegments): RecordingEvent {
  return {
    kind: 'recording.filesMissing',
    level: 'warning',
    subject: { type: 'recording', id: `${roomId}/${userId}`, name: userName },
    room: roomId,
    params: { from, to, segments, bytes },
  }
}

function sumOf(segments: readonly IndexedSegment[]): LostSegments | undefined {
  const [first] = segments
  if (first === undefined) return undefined
  const { roomId, userId, source, quality, userName } = first
  return {
    ...{ roomId, userId, source, quality, userName, segments: segments.length },
    bytes: segments.reduce((sum, { bytes }) => sum + bytes, 0),
    from: Math.min(...segments.map(({ startedAt }) => startedAt)),
    to: Math.max(...segments.map(({ endedAt }) => endedAt)),
  }
}
