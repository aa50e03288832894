import type { DatabaseSync } from 'node:sqlite'
import type { Gap, RecordedStream, Segment, SegmentStart } from '../../../shared/recordings/segment.ts'
import type { StreamNames } from '../notes/note.ts'
import type { IndexedSegment } from '../recording-index.ts'
import { number, type Row, segmentOf, storedFile, streamOf } from './row.ts'
import type { StreamIds } from './stream-ids.ts'
import { inIndexTransaction } from './index-tables.ts'
import { writeStatements } from './write-statements.ts'

/** Number of ids reserved at once, so that the id of a deleted segment is never reused. */
const idBlock = 1_000

/** Marks of a segment that its deletion depends on. */
export interface SegmentMarks {
  /** The segment overlaps a kept span. */
  kept: boolean
  /** The segment serves live viewing only. */
  live: boolean
  /** Place where the segment was found. If it is already known in another place, both count. */
  stored: IndexedSegment['stored']
}

/** Sums of deleted segments, with their streams. */
export interface DeletedSegments {
  segments: number
  bytes: number
  streams: RecordedStream[]
}

/** Changes to one open database, each in its own transaction. @throws Error of SQLite */
export class IndexWriter {
  readonly #database: DatabaseSync
  readonly #ids: StreamIds
  readonly #statements: ReturnType<typeof writeStatements>
  #nextId: number
  #reservedId: number

  constructor(database: DatabaseSync, ids: StreamIds) {
    this.#database = database
    this.#ids = ids
    this.#statements = writeStatements(database)
    const stored = Number(this.#statements.fact.get('next_id')?.value ?? 1)
    this.#nextId = stored
    this.#reservedId = stored
  }

  /**
   * Adds a segment at its start, and ends a gap of its stream. A repeated call has no effect.
   * @returns its id, and whether a gap ended
   */
  began(segment: SegmentStart): { id: number; endsGap: boolean } {
    return this.#whole(() => {
      const known = this.#statements.openByFile.get(segment.file)
      if (known !== undefined) return { id: number(known, 'id'), endsGap: false }
      const stream = this.#ids.ensure(segment, segment)
      const id = this.#takeId()
      const { changes } = this.#statements.endGaps.run(segment.startedAt, stream)
      this.#statements.open.run(id, stream, segment.file, JSON.stringify(segment))
      const { userName, topic, startedAt } = segment
      this.#statements.extendStream.run({ userName, topic, startedAt, stream })
      return { id, endsGap: changes > 0 }
    })
  }

  /** Adds a complete segment, or replaces a known one. @param marks see SegmentMarks @returns its id */
  ended(segment: Segment, marks: SegmentMarks): number {
    return this.#whole(() => {
      const stream = this.#ids.ensure(segment, segment)
      const open = this.#statements.openByFile.get(segment.file)
      if (open !== undefined) this.#statements.closeOpen.run(number(open, 'id'))
      const known = this.#knownSegment(stream, segment)
      if (known !== undefined) this.#drop(known)
      const id = known === undefined ? (open === undefined ? this.#takeId() : number(open, 'id')) : number(known, 'id')
      const isSame = known?.bytes === segment.bytes
      const stored = isSame && known.stored !== marks.stored ? 'both' : marks.stored
      this.#insert(id, stream, segment, { ...marks, stored })
      return id
    })
  }

  /** Removes an open segment without a file, or with an empty one. */
  discardOpen(file: string): void {
    this.#whole(() => {
      const known = this.#statements.openByFile.get(file)
      if (known === undefined) return
      this.#statements.closeOpen.run(number(known, 'id'))
      this.#statements.clearStream.run(number(known, 'stream'))
    })
  }

  /**
   * Adds a gap of a stream, and ends its open gap where the new one begins. Does nothing if the open gap has the same
   * reason.
   * @returns whether a gap was added
   */
  gap(gap: Gap, names: StreamNames): boolean {
    return this.#whole(() => {
      const stream = this.#ids.ensure(gap, names)
      const open = this.#statements.openGap.get(stream)
      if (open?.reason === gap.reason && gap.to === null) return false
      this.#statements.endGaps.run(gap.from, stream)
      this.#statements.addGap.run(stream, gap.from, gap.to, gap.reason)
      return true
    })
  }

  /** Adds past gaps unchanged, except those already in the index. */
  restoreGaps(stream: RecordedStream, names: StreamNames, gaps: readonly Pick<Gap, 'from' | 'to' | 'reason'>[]): void {
    this.#whole(() => {
      const id = this.#ids.ensure(stream, names)
      for (const { from, to, reason } of gaps) {
        if (this.#statements.gapAt.get(id, from, reason) === undefined)
          this.#statements.addGap.run(id, from, to, reason)
      }
    })
  }

  /** Ends the open gap of a stream, if any. @returns whether there was one */
  endGap(stream: RecordedStream, at: number): boolean {
    const id = this.#ids.find(stream)
    return id !== undefined && this.#statements.endGaps.run(at, id).changes > 0
  }

  /**
   * Sets or clears the mark `kept` of the segments that overlap a span.
   * @returns number of changed segments, at most `limit`
   */
  setKept(
    stream: RecordedStream,
    span: { from: number; to: number },
    kept: boolean,
    limit: number,
  ): { segments: number; bytes: number } {
    const id = this.#ids.find(stream)
    if (id === undefined) return { segments: 0, bytes: 0 }
    return this.#whole(() => {
      const rows = this.#statements.overlapping.all(id, span.from, span.to, kept ? 0 : 1, limit)
      let bytes = 0
      for (const row of rows) {
        bytes += number(row, 'bytes')
        this.#statements.setKept.run(kept ? 1 : 0, number(row, 'id'))
      }
      this.#statements.addKeptBytes.run(kept ? bytes : -bytes, id)
      return { segments: rows.length, bytes }
    })
  }

  /**
   * Deletes the segments of a span that are not kept, and queues their files for removal.
   * @returns number of deleted segments, at most `limit`
   */
  deleteSpan(
    stream: RecordedStream,
    span: { from: number; to: number },
    limit: number,
  ): { segments: number; bytes: number } {
    const id = this.#ids.find(stream)
    if (id === undefined) return { segments: 0, bytes: 0 }
    return this.#whole(() => this.#remove(id, this.#statements.overlapping.all(id, span.from, span.to, 0, limit)))
  }

  /** Deletes the oldest segments that are not kept and ended before a moment. */
  deleteOldest(stream: RecordedStream, before: number, limit: number): { segments: number; bytes: number } {
    const id = this.#ids.find(stream)
    if (id === undefined) return { segments: 0, bytes: 0 }
    return this.#whole(() => this.#remove(id, this.#statements.oldestOfStream.all(id, before, limit)))
  }

  /** Deletes the oldest segments of all streams that are not kept. */
  deleteOldestOfAll(limit: number): DeletedSegments {
    return this.#deleteOf(() => this.#statements.oldest.all(limit))
  }

  /** Deletes the oldest segments of all streams that are not kept and are only on the local disk. */
  deleteOldestLocal(limit: number): DeletedSegments {
    return this.#deleteOf(() => this.#statements.oldestLocal.all(limit))
  }

  /** Deletes segments for live viewing that ended before a moment. */
  deleteLive(before: number, limit: number): DeletedSegments {
    return this.#deleteOf(() => this.#statements.liveEnded.all(before, limit))
  }

  #deleteOf(find: () => Row[]): DeletedSegments {
    return this.#whole(() => {
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
  }

  /** Removes a segment whose file is missing on the disk. */
  forget(id: number): void {
    this.#whole(() => {
      const row = this.#statements.whole.get(id)
      if (row === undefined) return
      this.#drop(row)
      const stream = number(row, 'stream')
      this.#statements.dropGaps.run(stream)
      if (this.#statements.dropEmpty.run(stream).changes > 0) this.#ids.forget()
    })
  }

  /** Returns files to remove from the disk, the first deleted first. */
  removals(limit: number): { id: number; file: string; bytes: number }[] {
    return this.#statements.removals
      .all(limit)
      .map((row) => ({ id: number(row, 'id'), file: String(row.file), bytes: number(row, 'bytes') }))
  }

  removed(ids: readonly number[]): void {
    this.#whole(() => {
      for (const id of ids) {
        this.#statements.removed.run(id)
        this.#statements.removedLocally.run(id)
      }
    })
  }

  /** Returns the number and size of the files of deleted segments still on the disk. */
  waitingRemovals(): { files: number; bytes: number } {
    const row = this.#statements.waitingRemovals.get() ?? {}
    return { files: number(row, 'files'), bytes: number(row, 'bytes') }
  }

  /** Deletes gaps that ended before a moment, and streams that have no other entries. */
  dropGaps(before: number): void {
    this.#whole(() => {
      this.#statements.dropOldGaps.run(before)
      if (this.#statements.dropEmptyStreams.run().changes > 0) this.#ids.forget()
    })
  }

  /** Returns a value of the folder, e.g. the id of its site; undefined if it was never set. */
  fact(name: string): string | undefined {
    const value = this.#statements.fact.get(name)?.value
    return typeof value === 'string' ? value : undefined
  }

  setFact(name: string, value: string): void {
    this.#statements.setFact.run(name, value)
  }

  #knownSegment(stream: number, { startedAt, file }: Segment): Row | undefined {
    return this.#statements.atStart.all(stream, startedAt).find((row) => row.file === null || row.file === file)
  }

  #insert(id: number, stream: number, segment: Segment, { kept, live, stored }: SegmentMarks): void {
    const { startedAt, senderStartedAt, endedAt, bytes, end, userName, topic } = segment
    const device = segment.device ? 1 : 0
    const offset = senderStartedAt === null ? null : senderStartedAt - startedAt
    const form = this.#ids.form(segment)
    const file = storedFile(segment)
    this.#statements.insert.run(
      id,
      stream,
      startedAt,
      endedAt,
      bytes,
      kept ? 1 : 0,
      form,
      offset,
      end,
      file,
      live ? 1 : 0,
      stored,
      this.#ids.lack(segment),
    )
    const keptBytes = kept ? bytes : 0
    const longest = Math.max(0, endedAt - startedAt)
    this.#statements.addToStream.run({ userName, topic, device, startedAt, endedAt, bytes, keptBytes, longest, stream })
  }

  #remove(stream: number, rows: readonly Row[]): { segments: number; bytes: number } {
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
    this.#statements.dropGaps.run(stream)
    if (this.#statements.dropEmpty.run(stream).changes > 0) this.#ids.forget()
    return { segments: rows.length, bytes }
  }

  /** Returns the places from which a segment has to be removed. */
  #placeOf({ file, stored }: IndexedSegment): IndexedSegment['stored'] {
    if (stored !== 'local' || this.#statements.isSent.get(file) === undefined) return stored
    this.#statements.forgetSent.run(file)
    return 'both'
  }

  /** Deletes the row of a segment but not its file: a new version of the row follows. */
  #drop(row: Row): void {
    this.#statements.delete.run(number(row, 'id'))
    const bytes = number(row, 'bytes')
    const kept = number(row, 'kept') === 1 ? bytes : 0
    this.#statements.takeFromStream.run({ segments: 1, bytes, kept, stream: number(row, 'stream') })
  }

  #takeId(): number {
    if (this.#nextId === this.#reservedId) {
      this.#reservedId += idBlock
      this.#statements.setFact.run('next_id', String(this.#reservedId))
    }
    return this.#nextId++
  }

  #whole<T>(change: () => T): T {
    try {
      return inIndexTransaction(this.#database, change)
    } catch (error) {
      // Numbers assigned by the failed change are invalid.
      this.#ids.forget()
      this.#reservedId = this.#nextId
      throw error
    }
  }
}
