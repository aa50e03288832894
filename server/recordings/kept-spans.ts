import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { RefusalError } from '../../shared/domain/outcome.ts'
import type { RecordedStream } from '../../shared/recordings/segment.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import type { StoredRecordingKeep } from '../store/recording-records.ts'
import type { Store, Transaction } from '../store/store.ts'
import type { IndexWriter } from './index/index-writer.ts'
import type { RecordingStream } from '../../shared/domain/recordings.ts'

/** Number of segments marked before yielding to the event loop. */
const chunk = 25

type MarkedSegments = Pick<IndexWriter, 'setKept'>

export interface SegmentSums {
  segments: number
  bytes: number
}

export interface KeptSpansDependencies {
  store: Pick<Store, 'get' | 'all' | 'transact' | 'onChange'>
  logger: { error(fields: object, message: string): void }
}

/**
 * Spans that are kept regardless of the retention, stored with the site. The marks in the index follow the stored
 * spans, so that a change takes effect even if its caller received no response.
 */
export class KeptSpans {
  readonly #store: KeptSpansDependencies['store']
  readonly #logger: KeptSpansDependencies['logger']
  /** Queue that sets marks one change at a time, because two changes may concern the same segments. */
  #work: Promise<unknown> = Promise.resolve()
  /** Sums of the changes whose callers are waiting, by id of the kept span; undefined: the change is not stored yet. */
  readonly #sums = new Map<string, Promise<SegmentSums> | undefined>()
  #unsubscribe = (): void => {}

  constructor({ store, logger }: KeptSpansDependencies) {
    this.#store = store
    this.#logger = logger
  }

  /** Registers a listener that marks segments at every change. */
  follow(writer: MarkedSegments): void {
    this.#unsubscribe = this.#store.onChange(
      (changes, before) => {
        for (const [number, { collection, key, value }] of changes.entries()) {
          if (collection !== 'recording_keeps') continue
          // The previous value belongs to the same collection.
          const removed = before[number] as StoredRecordingKeep | undefined
          if (value !== undefined) this.#mark(key, () => mark(writer, value, true))
          else if (removed !== undefined) this.#mark(key, () => this.#unmark(writer, removed))
        }
      },
      ['recording_keeps'],
    )
  }

  /** Stops marking at changes. Resolves when the current marks are set. */
  async close(): Promise<void> {
    this.#unsubscribe()
    await this.#work
  }

  /** Lists the kept spans, the newest first. */
  list(): StoredRecordingKeep[] {
    return [...this.#store.all('recording_keeps').values()].reverse()
  }

  /** Whether a span of a stream overlaps a kept span. */
  covers(stream: RecordedStream, from: number, to: number): boolean {
    for (const keep of this.#store.all('recording_keeps').values()) {
      if (keep.from < to && keep.to > from && keep.streams.some((each) => isSame(each, stream))) return true
    }
    return false
  }

  /** @throws RefusalError keptSpanLimit */
  async keep(
    streams: readonly RecordingStream[],
    span: { from: number; to: number; note: string },
    by: string,
  ): Promise<StoredRecordingKeep & SegmentSums> {
    const keep: StoredRecordingKeep = { id: randomUUID(), streams, ...span, kept_by: by, kept_at: Date.now() }
    return await this.#change(keep.id, (transaction) => {
      transaction.put('recording_keeps', keep.id, keep)
      return keep
    })
  }

  /** @throws RefusalError keptSpanNotFound */
  async unkeep(id: string): Promise<StoredRecordingKeep & SegmentSums> {
    return await this.#change(id, (transaction) => {
      const found = this.#store.get('recording_keeps', id)
      if (found === undefined) throw new RefusalError(refusal('keptSpanNotFound'))
      transaction.delete('recording_keeps', id)
      return found
    })
  }

  /** Marks the segments of all kept spans: at the start, and after a rebuild of the index. */
  async markAll(writer: MarkedSegments): Promise<void> {
    for (const keep of this.list()) await mark(writer, keep, true)
  }

  async #change(
    id: string,
    plan: (transaction: Transaction) => StoredRecordingKeep,
  ): Promise<StoredRecordingKeep & SegmentSums> {
    this.#sums.set(id, undefined)
    try {
      const keep = await this.#store.transact(['recording_keeps'], plan)
      const { segments = 0, bytes = 0 } = (await this.#sums.get(id)) ?? {}
      return { ...keep, segments, bytes }
    } finally {
      this.#sums.delete(id)
    }
  }

  #mark(id: string, run: () => Promise<SegmentSums>): void {
    const marked = this.#work.then(run)
    if (this.#sums.has(id)) this.#sums.set(id, marked)
    this.#work = marked.catch((err: unknown) =>
      this.#logger.error({ err, span: id }, 'kept recordings were not marked'),
    )
  }

  async #unmark(writer: MarkedSegments, removed: StoredRecordingKeep): Promise<SegmentSums> {
    const sums = await mark(writer, removed, false)
    // Other kept spans may overlap the removed span.
    for (const other of this.list()) {
      if (other.from < removed.to && other.to > removed.from) await mark(writer, other, true)
    }
    return sums
  }
}

async function mark(
  writer: MarkedSegments,
  { streams, from, to }: StoredRecordingKeep,
  kept: boolean,
): Promise<SegmentSums> {
  const sums = { segments: 0, bytes: 0 }
  for (const stream of streams) {
    for (;;) {
      const { segments, bytes } = writer.setKept(recordedStream(stream), { from, to }, kept, chunk)
      sums.segments += segments
      sums.bytes += bytes
      if (segments < chunk) break
      await setImmediate()
    }
  }
  return sums
}

/** Converts a stream to its form in segments. */
export function recordedStream({ room_id, user_id, source, quality }: RecordingStream): RecordedStream {
  return { roomId: room_id, userId: user_id, source, quality }
}

/** Converts a stream to its form in the console. */
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
