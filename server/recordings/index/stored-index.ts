import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { Gap, RecordedStream } from '../../../shared/recordings/segment.ts'
import type {
  IndexedSegment,
  OpenIndexEntry,
  RecordedSource,
  RecordingIndex,
  SegmentQuery,
  SourceQuery,
} from '../recording-index.ts'
import { IndexFile } from './index-file.ts'
import { IndexWriter, type KeptTimes, type SegmentNotes } from './index-writer.ts'
import { ObjectPlaces } from './object-places.ts'
import { gapOf, number, openSegmentOf, segmentOf, recordedSourceOf, streamColumns, wholeSegment } from './row.ts'
import { SegmentDeletions } from './segment-deletions.ts'
import { writeStatements } from './write-statements.ts'

/** Default of `SegmentQuery.limit`. */
const defaultLimit = 2_000
const streamFields = { roomId: 'room_id', userId: 'user_id', source: 'source', quality: 'quality' } as const

/**
 * Complete segments of the stream ?1 that overlap the span from ?2 to ?3. The longest segment of the stream limits the
 * range of the index scan.
 */
const completeInSpan =
  'stream = ?1 AND started_at >= ?2 - (SELECT longest FROM streams WHERE id = ?1) AND started_at < ?3 AND ended_at > ?2 AND live = 0'

/** Extent of a segment, for time lines. */
export interface SegmentExtent {
  from: number
  to: number
  bytes: number
  kept: boolean
}

/** Extent of a segment that lacks tracks of its source. */
export interface LackExtent {
  from: number
  to: number
  /** The missing tracks, as JSON. */
  tracks: string
}

/** Row of a statement that returns arrays. */
type Cells = readonly unknown[]

/** Sums over the whole index. */
export interface IndexTotals {
  bytes: number
  segments: number
  keptBytes: number
  /** Start of the first and end of the last segment, in milliseconds since the epoch; 0: no segments. */
  firstAt: number
  lastAt: number
}

export interface IndexOptions {
  /** Existing folder for the file of the index. */
  folder: string
  kept: KeptTimes
  /** Called when a damaged file was replaced by an empty file: the index has to be rebuilt from the recordings. */
  onDamage: (reason: string) => void
  /**
   * Notes beside the files, from which gaps and ends are restored in a rebuilt index; undefined: no notes are written.
   */
  notes?: SegmentNotes | undefined
}

/** Index of a recordings folder in a SQLite file. This class has the queries; its fields make changes. */
export class StoredIndex implements RecordingIndex {
  readonly #file: IndexFile
  readonly #prepared: () => ReturnType<typeof queries>
  /** Adds segments and gaps. */
  readonly writer: IndexWriter
  /** Deletes segments, and lists the files to remove. */
  readonly deletions: SegmentDeletions
  /** Places of segments: on the disk, in object storage, or both. */
  readonly places: ObjectPlaces

  /** @throws Error if the folder is not writable */
  constructor({ folder, kept, onDamage, notes }: IndexOptions) {
    this.#file = new IndexFile(folder, onDamage)
    this.#prepared = this.#file.prepared(queries)
    const statements = this.#file.prepared(writeStatements)
    this.writer = new IndexWriter(this.#file, statements, kept, notes)
    this.deletions = new SegmentDeletions(this.#file, statements)
    this.places = new ObjectPlaces(this.#file)
  }

  /** See `isNew` of IndexFile. */
  get isNew(): boolean {
    return this.#file.isNew
  }

  onChange(listener: (streams: readonly RecordedStream[]) => void): () => void {
    this.#file.listeners.add(listener)
    return () => this.#file.listeners.delete(listener)
  }

  close(): void {
    this.#file.close()
  }

  segments(query: SegmentQuery): IndexedSegment[] {
    return this.#file.read(() => {
      const stream = this.#wholeStream(query)
      if (stream === undefined) return []
      const { where, values } = streamFilter(query, stream)
      if (query.to !== undefined) {
        where.push('segments.started_at < ?')
        values.push(query.to)
      }
      if (query.from !== undefined) {
        where.push('segments.started_at >= ? - streams.longest', 'segments.ended_at > ?')
        values.push(query.from, query.from)
      }
      const text = `${wholeSegment}${allOf(where)} ORDER BY segments.started_at, segments.id LIMIT ?`
      return this.#statement(text)
        .all(...values, query.limit ?? defaultLimit)
        .map(segmentOf)
    })
  }

  segment(id: number): IndexedSegment | undefined {
    return this.#file.read(() => {
      const row = this.#prepared().byId.get(id)
      return row === undefined ? undefined : segmentOf(row)
    })
  }

  /** Returns the segments of a stream for its time line, in order. */
  extents(stream: RecordedStream, from: number, to: number, limit: number): SegmentExtent[] {
    return this.#file.read(() => this.#rowsOf(this.#prepared().extents, stream, [from, to, limit]).map(extentOf))
  }

  /** Returns the segments of a stream that lack tracks of its source, in order. */
  lacking(stream: RecordedStream, from: number, to: number, limit: number): LackExtent[] {
    return this.#file.read(() => this.#rowsOf(this.#prepared().lacking, stream, [from, to, limit]).map(lackOf))
  }

  open(query: SegmentQuery): OpenIndexEntry[] {
    return this.#file.read(() => {
      const stream = this.#wholeStream(query)
      if (stream === undefined) return []
      const { where, values } = streamFilter(query, stream)
      const text = `SELECT open_segments.* FROM open_segments JOIN streams ON streams.id = open_segments.stream${allOf(where)} ORDER BY open_segments.id`
      const found = this.#statement(text)
        .all(...values)
        .map(openSegmentOf)
      const { to = Number.POSITIVE_INFINITY, limit = defaultLimit } = query
      return found.filter(({ startedAt }) => startedAt < to).slice(0, limit)
    })
  }

  gaps(query: SegmentQuery): Gap[] {
    return this.#file.read(() => {
      const stream = this.#wholeStream(query)
      if (stream === undefined) return []
      const { where, values } = streamFilter(query, stream)
      if (query.to !== undefined) {
        where.push('gaps.from_at < ?')
        values.push(query.to)
      }
      if (query.from !== undefined) {
        where.push('(gaps.to_at IS NULL OR gaps.to_at > ?)')
        values.push(query.from)
      }
      const text = `SELECT gaps.*, ${streamColumns} FROM gaps JOIN streams ON streams.id = gaps.stream${allOf(where)} ORDER BY gaps.from_at, gaps.id LIMIT ?`
      return this.#statement(text)
        .all(...values, query.limit ?? defaultLimit)
        .map(gapOf)
    })
  }

  sources(query: SourceQuery = {}): RecordedSource[] {
    return this.#file.read(() => {
      const { where, values } = sourceFilter(query)
      const text = `SELECT streams.* FROM streams${allOf(where)} ORDER BY last_at DESC, id LIMIT ? OFFSET ?`
      return this.#statement(text)
        .all(...values, query.limit ?? -1, query.offset ?? 0)
        .map(recordedSourceOf)
    })
  }

  /** Returns the sums of one stream; undefined if it was never recorded. */
  source({ roomId, userId, source, quality }: RecordedStream): RecordedSource | undefined {
    return this.#file.read(() => {
      const id = this.#file.ids.find({ roomId, userId, source, quality })
      const row = id === undefined ? undefined : this.#statement('SELECT * FROM streams WHERE id = ?').get(id)
      return row === undefined ? undefined : recordedSourceOf(row)
    })
  }

  /** Returns the number of sources, ignoring limit and offset. */
  countSources(query: SourceQuery): number {
    return this.#file.read(() => {
      const { where, values } = sourceFilter(query)
      return number(this.#statement(`SELECT count(*) AS n FROM streams${allOf(where)}`).get(...values) ?? {}, 'n')
    })
  }

  totals(): IndexTotals {
    return this.#file.read(() => {
      const row = this.#prepared().totals.get() ?? {}
      return {
        bytes: number(row, 'bytes'),
        segments: number(row, 'segments'),
        keptBytes: number(row, 'kept_bytes'),
        firstAt: number(row, 'first_at'),
        lastAt: number(row, 'last_at'),
      }
    })
  }

  /**
   * Returns the id of the stream that the query selects. null: the query selects several streams; undefined: the stream
   * was never recorded.
   */
  #wholeStream({ roomId, userId, source, quality }: SegmentQuery): number | null | undefined {
    if (roomId === undefined || userId === undefined || source === undefined || quality === undefined) return null
    return this.#file.ids.find({ roomId, userId, source, quality })
  }

  /**
   * Returns rows of a stream as arrays, for speed: a day of eight cameras has 11,520 rows.
   * @param span from, to and limit
   */
  #rowsOf(statement: StatementSync, stream: RecordedStream, span: readonly [number, number, number]): Cells[] {
    const id = this.#file.ids.find(stream)
    const rows: unknown[] = id === undefined ? [] : statement.all(id, ...span)
    return rows.map<Cells>((row) => (Array.isArray(row) ? row : []))
  }

  #statement(text: string): StatementSync {
    const { database, byText } = this.#prepared()
    const held = byText.get(text) ?? database.prepare(text)
    byText.set(text, held)
    return held
  }
}

/** @param stream id of the only selected stream; null: the query selects several streams */
function streamFilter(query: SegmentQuery, stream: number | null): { where: string[]; values: SQLInputValue[] } {
  if (stream !== null) return { where: ['streams.id = ?'], values: [stream] }
  const where: string[] = []
  const values: SQLInputValue[] = []
  for (const [field, column] of Object.entries(streamFields)) {
    const value = query[field as keyof typeof streamFields]
    if (value === undefined) continue
    where.push(`streams.${column} = ?`)
    values.push(value)
  }
  return { where, values }
}

function sourceFilter(query: SourceQuery): { where: string[]; values: SQLInputValue[] } {
  const where = ['streams.last_at > 0']
  const values: SQLInputValue[] = []
  const add = (condition: string, ...given: SQLInputValue[]): void => {
    where.push(condition)
    values.push(...given)
  }
  if (query.roomIds !== undefined)
    add('streams.room_id IN (SELECT value FROM json_each(?))', JSON.stringify(query.roomIds))
  if (query.device !== undefined) add('streams.device = ?', query.device ? 1 : 0)
  if (query.from !== undefined) add('streams.last_at > ?', query.from)
  if (query.to !== undefined) add('streams.first_at < ?', query.to)
  if (query.search !== undefined && query.search !== '') {
    const pattern = `%${query.search.replaceAll(/[\\%_]/g, '\\$&')}%`
    const columns = ['user_name', 'topic', 'room_id', 'user_id']
    add(
      `(${columns.map((column) => `streams.${column} LIKE ? ESCAPE '\\'`).join(' OR ')})`,
      ...columns.map(() => pattern),
    )
  }
  return { where, values }
}

function allOf(where: readonly string[]): string {
  return where.length === 0 ? '' : ` WHERE ${where.join(' AND ')}`
}

function extentOf([from, to, bytes, kept]: Cells): SegmentExtent {
  return { from: Number(from), to: Number(to), bytes: Number(bytes), kept: kept === 1 }
}

function lackOf([from, to, tracks]: Cells): LackExtent {
  return { from: Number(from), to: Number(to), tracks: String(tracks) }
}

/** Prepares the queries of an open database. */
function queries(database: DatabaseSync) {
  const extents = database.prepare(
    `SELECT started_at, ended_at, bytes, kept FROM segments WHERE ${completeInSpan} ORDER BY started_at LIMIT ?4`,
  )
  extents.setReturnArrays(true)
  const lacking = database.prepare(
    `SELECT started_at, ended_at, lacks.tracks FROM segments INDEXED BY segments_lacking JOIN lacks ON lacks.id = segments.lack
     WHERE ${completeInSpan} AND lack IS NOT NULL ORDER BY started_at LIMIT ?4`,
  )
  lacking.setReturnArrays(true)
  return {
    database,
    byId: database.prepare(`${wholeSegment} WHERE segments.id = ?`),
    extents,
    lacking,
    totals: database.prepare(
      `SELECT coalesce(sum(bytes), 0) AS bytes, coalesce(sum(segments), 0) AS segments, coalesce(sum(kept_bytes), 0) AS kept_bytes,
       coalesce(min(first_at) FILTER (WHERE segments > 0), 0) AS first_at, coalesce(max(last_at), 0) AS last_at FROM streams`,
    ),
    /** Prepared statements by SQL text: a few dozen. */
    byText: new Map<string, StatementSync>(),
  }
}
