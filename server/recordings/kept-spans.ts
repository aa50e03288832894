import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { ConsoleError } from '../../shared/console/procedure.ts'
import type { RecordingStream } from '../../shared/console/recordings.ts'
import type { RecordedStream } from '../../shared/recordings/segment.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import type { StoredRecordingKeep } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import type { StoredIndex } from './index/stored-index.ts'

/** Segments that are marked in one turn of the event loop. */
const chunk = 25

/** Sums of segments. */
export interface SegmentSums {
  segments: number
  bytes: number
}

/** Spans that are kept whatever the retention: stored with the site, and marked in the index. */
export class KeptSpans {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /** The newest first. */
  list(): StoredRecordingKeep[] {
    return [...this.#store.all('recording_keeps').values()].reverse()
  }

  /** Whether a span of a stream overlaps one that is kept. */
  covers(stream: RecordedStream, from: number, to: number): boolean {
    for (const keep of this.#store.all('recording_keeps').values()) {
      if (keep.from < to && keep.to > from && keep.streams.some((each) => isSame(each, stream))) return true
    }
    return false
  }

  /** @throws ConsoleError keptSpanLimit */
  async keep(
    index: StoredIndex,
    streams: readonly RecordingStream[],
    span: { from: number; to: number; note: string },
    by: string,
  ): Promise<StoredRecordingKeep & SegmentSums> {
    const keep: StoredRecordingKeep = { id: randomUUID(), streams, ...span, kept_by: by, kept_at: Date.now() }
    await this.#store.transact(['recording_keeps'], (transaction) => {
      transaction.put('recording_keeps', keep.id, keep)
    })
    return { ...keep, ...(await this.mark(index, keep)) }
  }

  /** @throws ConsoleError keptSpanNotFound */
  async unkeep(index: StoredIndex, id: string): Promise<StoredRecordingKeep & SegmentSums> {
    const keep = await this.#store.transact(['recording_keeps'], (transaction) => {
      const found = this.#store.get('recording_keeps', id)
      if (found === undefined) throw new ConsoleError(refusal('keptSpanNotFound'))
      transaction.delete('recording_keeps', id)
      return found
    })
    const sums = await mark(index, keep, false)
    // Other spans may overlap this one.
    for (const other of this.list()) {
      if (other.from < keep.to && other.to > keep.from) await this.mark(index, other)
    }
    return { ...keep, ...sums }
  }

  /** Marks the segments of a span in the index. */
  async mark(index: StoredIndex, keep: StoredRecordingKeep): Promise<SegmentSums> {
    return await mark(index, keep, true)
  }

  /** Marks the segments of all spans, after the index was rebuilt. */
  async markAll(index: StoredIndex): Promise<void> {
    for (const keep of this.list()) await this.mark(index, keep)
  }
}

async function mark(
  index: StoredIndex,
  { streams, from, to }: StoredRecordingKeep,
  kept: boolean,
): Promise<SegmentSums> {
  const sums = { segments: 0, bytes: 0 }
  for (const stream of streams) {
    for (;;) {
      const { segments, bytes } = index.setKept(recordedStream(stream), { from, to }, kept, chunk)
      sums.segments += segments
      sums.bytes += bytes
      if (segments < chunk) break
      await setImmediate()
    }
  }
  return sums
}

/** A stream as segments name it. */
export function recordedStream({ room_id, user_id, source, quality }: RecordingStream): RecordedStream {
  return { roomId: room_id, userId: user_id, source, quality }
}

/** A stream as the console names it. */
export function consoleStream({ roomId, userId, source, quality }: RecordedStream): RecordingStream {
  return { room_id: roomId, user_id: userId, source, quality }
}

function isSame(one: RecordingStream, other: RecordedStream): boolean {
  return (
    one.room_id === other.roomId &&
    one.user_id === other.userId &&
    one.source === other.source &&
    one.quality === other.quality
  )
}
