import type { Gap, RecordedStream, Segment, SegmentStart } from '../../../shared/recordings/segment.ts'
import { segmentPath } from '../../../shared/recordings/segment-path.ts'
import type { RecordingNotes, StreamNames } from '../recording-notes.ts'
import type { IndexedSegment } from '../recording-index.ts'
import type { IndexFile } from './index-file.ts'
import { number, type Row } from './row.ts'
import { dropSegment, type WriteStatements } from './write-statements.ts'

/** Number of ids reserved at once, so that the id of a deleted segment is never reused. */
const idBlock = 1_000

/** Marks of a segment that its deletion depends on. */
interface SegmentMarks {
  /** Whether the segment overlaps a kept span. */
  kept: boolean
  /** Whether the segment serves live viewing only. */
  live: boolean
  /** Place where the segment was found. A segment that is already known in the other place is stored as `both`. */
  stored: IndexedSegment['stored']
}

/** Spans that are kept regardless of the retention. */
export interface KeptTimes {
  /** Whether a span of a stream overlaps a kept span. */
  covers(stream: RecordedStream, from: number, to: number): boolean
}

/** Notes beside the recordings, which repeat the entries of the index. */
export type SegmentNotes = Pick<RecordingNotes, 'began' | 'ended' | 'gap' | 'gapEnded'>

/** Adds segments and gaps to an index, each in a transaction, and to the notes. @throws Error of SQLite */
export class IndexWriter {
  readonly #file: IndexFile
  readonly #prepared: () => WriteStatements
  readonly #segmentIds: () => SegmentIds
  readonly #kept: KeptTimes
  readonly #notes: SegmentNotes | undefined

  constructor(file: IndexFile, statements: () => WriteStatements, kept: KeptTimes, notes: SegmentNotes | undefined) {
    this.#file = file
    this.#prepared = statements
    this.#segmentIds = file.prepared(() => new SegmentIds(statements()))
    this.#kept = kept
    this.#notes = notes
  }

  get #statements(): WriteStatements {
    return this.#prepared()
  }

  /**
   * Adds a segment at its start, and ends an open gap of its stream. A repeated call has no effect.
   * @returns id of the segment
   */
  began(segment: SegmentStart): number {
    const { id, endsGap } = this.#change(() => {
      const known = this.#statements.openByFile.get(segment.file)
      if (known !== undefined) return { id: number(known, 'id'), endsGap: false }
      const stream = this.#file.ids.ensure(segment, segment)
      const id = this.#segmentIds().take()
      const { changes } = this.#statements.endGaps.run(segment.startedAt, stream)
      this.#statements.open.run(id, stream, segment.file, JSON.stringify(segment))
      const { userName, topic, startedAt } = segment
      this.#statements.extendStream.run({ userName, topic, startedAt, stream })
      return { id, endsGap: changes > 0 }
    })
    this.#announce(segment)
    this.#notes?.began(segment)
    if (endsGap) this.#notes?.gapEnded(segment, segment.startedAt, segment)
    return id
  }

  /**
   * Adds a complete segment, or replaces a known segment.
   * @param live whether the segment serves live viewing only
   * @param stored place where the segment was found
   * @returns id of the segment
   */
  ended(segment: Segment, live = false, stored: IndexedSegment['stored'] = 'local'): number {
    const id = this.#add(segment, live, stored)
    // Objects in the storage contain their own metadata.
    if (stored === 'local') this.#notes?.ended(segment, live)
    return id
  }

  /** Adds a segment read from its file. @param live see `ended` */
  restore(segment: Segment, live: boolean): void {
    this.#add(segment, live, 'local')
  }

  /** Removes an open segment without a file, or with an empty file. */
  discardOpen(segment: SegmentStart): void {
    this.#change(() => {
      const known = this.#statements.openByFile.get(segment.file)
      if (known === undefined) return
      this.#statements.closeOpen.run(number(known, 'id'))
      this.#statements.clearStream.run(number(known, 'stream'))
    })
    this.#announce(segment)
  }

  /**
   * Adds a gap of a stream. An open gap of this stream ends where the new gap begins. Does nothing if the open gap has
   * the same reason.
   */
  gap(gap: Gap, names: StreamNames): void {
    const isNew = this.#change(() => {
      const stream = this.#file.ids.ensure(gap, names)
      const open = this.#statements.openGap.get(stream)
      if (open?.reason === gap.reason && gap.to === null) return false
      this.#statements.endGaps.run(gap.from, stream)
      this.#statements.addGap.run(stream, gap.from, gap.to, gap.reason)
      return true
    })
    this.#announce(gap)
    if (isNew) this.#notes?.gap(gap, names)
  }

  /** Ends the open gap of a stream, if any. */
  endGap(stream: RecordedStream, at: number): void {
    const ended = this.#change(() => {
      const id = this.#file.ids.find(stream)
      return id !== undefined && this.#statements.endGaps.run(at, id).changes > 0
    })
    this.#announce(stream)
    if (ended) this.#notes?.gapEnded(stream, at)
  }

  /** Adds past gaps unchanged, except those already in the index. */
  restoreGaps(stream: RecordedStream, names: StreamNames, gaps: readonly Pick<Gap, 'from' | 'to' | 'reason'>[]): void {
    this.#change(() => {
      const id = this.#file.ids.ensure(stream, names)
      for (const { from, to, reason } of gaps) {
        if (this.#statements.gapAt.get(id, from, reason) === undefined)
          this.#statements.addGap.run(id, from, to, reason)
      }
    })
    this.#announce(stream)
  }

  /**
   * Sets or clears the mark `kept` of the segments that overlap a span.
   * @returns number and bytes of the changed segments; at most `limit` segments
   */
  setKept(
    stream: RecordedStream,
    span: { from: number; to: number },
    kept: boolean,
    limit: number,
  ): { segments: number; bytes: number } {
    const changed = this.#change(() => {
      const id = this.#file.ids.find(stream)
      const rows = id === undefined ? [] : this.#statements.overlapping.all(id, span.from, span.to, kept ? 0 : 1, limit)
      let bytes = 0
      for (const row of rows) {
        bytes += number(row, 'bytes')
        this.#statements.setKept.run(kept ? 1 : 0, number(row, 'id'))
      }
      if (id !== undefined) this.#statements.addKeptBytes.run(kept ? bytes : -bytes, id)
      return { segments: rows.length, bytes }
    })
    this.#announce(stream)
    return changed
  }

  #add(segment: Segment, live: boolean, place: IndexedSegment['stored']): number {
    const kept = this.#kept.covers(segment, segment.startedAt, segment.endedAt)
    const added = this.#change(() => {
      const stream = this.#file.ids.ensure(segment, segment)
      const open = this.#statements.openByFile.get(segment.file)
      if (open !== undefined) this.#statements.closeOpen.run(number(open, 'id'))
      const known = this.#knownSegment(stream, segment)
      if (known !== undefined) dropSegment(this.#statements, known)
      const given = known ?? open
      const id = given === undefined ? this.#segmentIds().take() : number(given, 'id')
      const isSame = known?.bytes === segment.bytes
      const stored = isSame && known.stored !== place ? 'both' : place
      this.#insert(id, stream, segment, { kept, live, stored })
      return id
    })
    this.#announce(segment)
    return added
  }

  #knownSegment(stream: number, { startedAt, file }: Segment): Row | undefined {
    return this.#statements.atStart.all(stream, startedAt).find((row) => row.file === null || row.file === file)
  }

  #insert(id: number, stream: number, segment: Segment, { kept, live, stored }: SegmentMarks): void {
    const { startedAt, senderStartedAt, endedAt, bytes, end, userName, topic } = segment
    const device = segment.device ? 1 : 0
    const offset = senderStartedAt === null ? null : senderStartedAt - startedAt
    const form = this.#file.ids.form(segment)
    // The path is stored only if it cannot be derived from stream and start.
    const file = segment.file === segmentPath(segment, startedAt, segment.container) ? null : segment.file
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
      this.#file.ids.lack(segment),
    )
    const keptBytes = kept ? bytes : 0
    const longest = Math.max(0, endedAt - startedAt)
    this.#statements.addToStream.run({ userName, topic, device, startedAt, endedAt, bytes, keptBytes, longest, stream })
  }

  #announce(stream: RecordedStream): void {
    for (const listener of this.#file.listeners) listener([stream])
  }

  #change<T>(change: () => T): T {
    try {
      return this.#file.write(change)
    } catch (error) {
      // Segment ids assigned by the failed change are invalid.
      this.#segmentIds().rollBack()
      throw error
    }
  }
}

/** Ids of segments, reserved in blocks. */
class SegmentIds {
  readonly #statements: WriteStatements
  #next: number
  #reserved: number

  constructor(statements: WriteStatements) {
    this.#statements = statements
    this.#next = Number(statements.fact.get('next_id')?.value ?? 1)
    this.#reserved = this.#next
  }

  take(): number {
    if (this.#next === this.#reserved) {
      this.#reserved += idBlock
      this.#statements.setFact.run('next_id', String(this.#reserved))
    }
    return this.#next++
  }

  /** Discards the reservation of a change that was rolled back. */
  rollBack(): void {
    this.#reserved = this.#next
  }
}
