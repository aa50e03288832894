import type { RecordedStream } from '../../../shared/recordings/segment.ts'
import type { IndexedSegment } from '../recording-index.ts'
import type { IndexFile } from './index-file.ts'
import { number, type Row, segmentOf, streamOf } from './row.ts'
import { dropSegment, type WriteStatements } from './write-statements.ts'

/** Sums of deleted segments. */
export interface DeletedSegments {
  segments: number
  bytes: number
}

/** Deletes segments from an index, and lists the files to remove from the disk. @throws Error of SQLite */
export class SegmentDeletions {
  readonly #file: IndexFile
  readonly #prepared: () => WriteStatements

  constructor(file: IndexFile, statements: () => WriteStatements) {
    this.#file = file
    this.#prepared = statements
  }

  get #statements(): WriteStatements {
    return this.#prepared()
  }

  /**
   * Deletes the segments of a span that are not kept, and queues their files for removal.
   * @returns number and bytes of the deleted segments; at most `limit` segments
   */
  deleteSpan(stream: RecordedStream, span: { from: number; to: number }, limit: number): DeletedSegments {
    return this.#deleteOf(stream, (id) => this.#statements.overlapping.all(id, span.from, span.to, 0, limit))
  }

  /** Deletes the oldest segments that are not kept and ended before a moment. */
  deleteOldest(stream: RecordedStream, before: number, limit: number): DeletedSegments {
    return this.#deleteOf(stream, (id) => this.#statements.oldestOfStream.all(id, before, limit))
  }

  /** Deletes the oldest segments of all streams that are not kept. */
  deleteOldestOfAll(limit: number): DeletedSegments {
    return this.#deleteOfAll(() => this.#statements.oldest.all(limit))
  }

  /** Deletes the oldest segments of all streams that are not kept and are only on the local disk. */
  deleteOldestLocal(limit: number): DeletedSegments {
    return this.#deleteOfAll(() => this.#statements.oldestLocal.all(limit))
  }

  /** Deletes segments for live viewing that ended before a moment. */
  deleteLive(before: number, limit: number): DeletedSegments {
    return this.#deleteOfAll(() => this.#statements.liveEnded.all(before, limit))
  }

  /** Removes a segment whose file is missing on the disk. */
  forget(stream: RecordedStream, id: number): void {
    this.#file.write(() => {
      const row = this.#statements.whole.get(id)
      if (row === undefined) return
      dropSegment(this.#statements, row)
      this.#tidy(number(row, 'stream'))
    })
    this.#announce([stream])
  }

  /** Returns files to remove from the disk, the first deleted first. */
  removals(limit: number): { id: number; file: string; bytes: number }[] {
    return this.#file.read(() =>
      this.#statements.removals
        .all(limit)
        .map((row) => ({ id: number(row, 'id'), file: String(row.file), bytes: number(row, 'bytes') })),
    )
  }

  removed(ids: readonly number[]): void {
    this.#file.write(() => {
      for (const id of ids) {
        this.#statements.removed.run(id)
        this.#statements.removedLocally.run(id)
      }
    })
  }

  /** Returns the number and size of the files of deleted segments still on the disk. */
  waitingRemovals(): { files: number; bytes: number } {
    return this.#file.read(() => {
      const row = this.#statements.waitingRemovals.get() ?? {}
      return { files: number(row, 'files'), bytes: number(row, 'bytes') }
    })
  }

  /** Deletes gaps that ended before a moment, and streams that have no other entries. */
  dropGaps(before: number): void {
    this.#file.write(() => {
      this.#statements.dropOldGaps.run(before)
      if (this.#statements.dropEmptyStreams.run().changes > 0) this.#file.ids.forget()
    })
  }

  #deleteOf(stream: RecordedStream, find: (id: number) => Row[]): DeletedSegments {
    const deleted = this.#file.write(() => {
      const id = this.#file.ids.find(stream)
      return id === undefined ? { segments: 0, bytes: 0 } : this.#remove(id, find(id))
    })
    this.#announce([stream])
    return deleted
  }

  #deleteOfAll(find: () => Row[]): DeletedSegments {
    const { streams, ...sum } = this.#file.write(() => {
      const byStream = new Map<number, Row[]>()
      for (const row of find()) {
        const stream = number(row, 'stream')
        byStream.set(stream, [...(byStream.get(stream) ?? []), row])
      }
      const sum = { segments: 0, bytes: 0 }
      const streams: RecordedStream[] = []
      for (const [stream, rows] of byStream) {
        streams.push(streamOf(this.#statements.stream.get(stream) ?? {}))
        const removed = this.#remove(stream, rows)
        sum.segments += removed.segments
        sum.bytes += removed.bytes
      }
      return { ...sum, streams }
    })
    this.#announce(streams)
    return sum
  }

  #remove(stream: number, rows: readonly Row[]): DeletedSegments {
    let bytes = 0
    for (const row of rows) {
      const id = number(row, 'id')
      const whole = this.#statements.whole.get(id)
      if (whole === undefined) continue
      const segment = segmentOf(whole)
      bytes += segment.bytes
      this.#statements.noteRemoval.run(id, segment.file, segment.bytes, this.#placeOf(segment))
      this.#statements.delete.run(id)
    }
    this.#statements.takeFromStream.run({ segments: rows.length, bytes, kept: 0, stream })
    this.#tidy(stream)
    return { segments: rows.length, bytes }
  }

  /** Deletes the gaps before a stream's first segment, and the stream if it has no other entries. */
  #tidy(stream: number): void {
    this.#statements.dropGaps.run(stream)
    if (this.#statements.dropEmpty.run(stream).changes > 0) this.#file.ids.forget()
  }

  /** Returns the places from which a segment has to be removed. */
  #placeOf({ file, stored }: IndexedSegment): IndexedSegment['stored'] {
    if (stored !== 'local' || this.#statements.isSent.get(file) === undefined) return stored
    this.#statements.forgetSent.run(file)
    return 'both'
  }

  #announce(streams: readonly RecordedStream[]): void {
    if (streams.length > 0) for (const listener of this.#file.listeners) listener(streams)
  }
}
