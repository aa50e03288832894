import { rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { insideOf, withSuffix } from '../../../shared/files/own-path.ts'
import type { Gap, RecordedStream, Segment, SegmentStart } from '../../../shared/recordings/segment.ts'
import type {
  IndexedSegment,
  OpenIndexEntry,
  RecordedSource,
  RecordingIndex,
  SegmentQuery,
  SourceQuery,
} from '../recording-index.ts'
import { renameFileSync } from '../../store/system/rename-file.ts'
import type { StreamNames } from '../notes/note.ts'
import type { RecordingNotes } from '../notes/recording-notes.ts'
import { IndexReader, type IndexTotals, type LackExtent, type SegmentExtent } from './index-reader.ts'
import { type DeletedSegments, IndexWriter } from './index-writer.ts'
import { ObjectPlaces } from './object-places.ts'
import { companions, indexFile, isDamage } from './index-folder.ts'
import { Checkpoints } from './checkpoints.ts'
import { prepareSchema } from './index-tables.ts'
import { StreamIds } from './stream-ids.ts'

export interface IndexOptions {
  /** Existing folder for the file of the index. */
  folder: string
  /** Whether a span of a stream overlaps a kept span. */
  isKept: (stream: RecordedStream, from: number, to: number) => boolean
  /** Called when a damaged file was replaced by an empty one: the index has to be rebuilt from the recordings. */
  onDamage: (reason: string) => void
  /** Notes beside the files, from which gaps and ends are restored in a rebuilt index; undefined: none are written. */
  notes?: Pick<RecordingNotes, 'began' | 'ended' | 'gap' | 'gapEnded'> | undefined
}

interface OpenDatabase {
  database: DatabaseSync
  reader: IndexReader
  writer: IndexWriter
  places: ObjectPlaces
  checkpoints: Checkpoints
}

/**
 * The index of a recordings folder, in a SQLite file. A damaged file is set aside, and the failed call is repeated on
 * an empty one.
 */
export class StoredIndex implements RecordingIndex {
  readonly #options: IndexOptions
  readonly #listeners = new Set<(streams: readonly RecordedStream[]) => void>()
  #open: OpenDatabase
  /** The file was new or damaged: it does not contain the existing recordings yet. */
  readonly isNew: boolean

  /** @throws Error if the folder is not writable */
  constructor(options: IndexOptions) {
    this.#options = options
    const { opened, made } = openOrReplace(options.folder, options.onDamage)
    this.#open = opened
    this.isNew = made
  }

  segments(query: SegmentQuery): readonly IndexedSegment[] {
    return this.#safely(({ reader }) => reader.segments(query))
  }

  segment(id: number): IndexedSegment | undefined {
    return this.#safely(({ reader }) => reader.segment(id))
  }

  open(query: SegmentQuery): readonly OpenIndexEntry[] {
    return this.#safely(({ reader }) => reader.open(query))
  }

  gaps(query: SegmentQuery): readonly Gap[] {
    return this.#safely(({ reader }) => reader.gaps(query))
  }

  sources(query: SourceQuery = {}): readonly RecordedSource[] {
    return this.#safely(({ reader }) => reader.sources(query))
  }

  /** Returns the sums of one stream; undefined if it was never recorded. */
  source(stream: RecordedStream): RecordedSource | undefined {
    return this.#safely(({ reader }) => reader.source(stream))
  }

  /** Returns the number of sources, ignoring the limit of the query. */
  countSources(query: SourceQuery): number {
    return this.#safely(({ reader }) => reader.countSources(query))
  }

  /** See IndexReader. */
  extents(stream: RecordedStream, from: number, to: number, limit: number): SegmentExtent[] {
    return this.#safely(({ reader }) => reader.extents(stream, from, to, limit))
  }

  /** See IndexReader. */
  lacking(stream: RecordedStream, from: number, to: number, limit: number): LackExtent[] {
    return this.#safely(({ reader }) => reader.lacking(stream, from, to, limit))
  }

  totals(): IndexTotals {
    return this.#safely(({ reader }) => reader.totals())
  }

  onChange(listener: (streams: readonly RecordedStream[]) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** See IndexWriter. */
  began(segment: SegmentStart): number {
    const { id, endsGap } = this.#changing([segment], ({ writer }) => writer.began(segment))
    this.#options.notes?.began(segment)
    if (endsGap) this.#options.notes?.gapEnded(segment, segment.startedAt, segment)
    return id
  }

  /** @param live the segment serves live viewing only @param stored place where it was found */
  ended(segment: Segment, live = false, stored: IndexedSegment['stored'] = 'local'): number {
    const kept = this.#options.isKept(segment, segment.startedAt, segment.endedAt)
    const id = this.#changing([segment], ({ writer }) => writer.ended(segment, { kept, live, stored }))
    // Objects in the storage contain their own metadata.
    if (stored === 'local') this.#options.notes?.ended(segment, live)
    return id
  }

  /** Adds a segment read from its file. @param live see `ended` */
  restore(segment: Segment, live: boolean): void {
    const kept = this.#options.isKept(segment, segment.startedAt, segment.endedAt)
    this.#changing([segment], ({ writer }) => writer.ended(segment, { kept, live, stored: 'local' }))
  }

  /** See IndexWriter. */
  restoreGaps(stream: RecordedStream, names: StreamNames, gaps: readonly Pick<Gap, 'from' | 'to' | 'reason'>[]): void {
    this.#changing([stream], ({ writer }) => writer.restoreGaps(stream, names, gaps))
  }

  discardOpen(segment: SegmentStart): void {
    this.#changing([segment], ({ writer }) => writer.discardOpen(segment.file))
  }

  gap(gap: Gap, names: StreamNames): void {
    const isNew = this.#changing([gap], ({ writer }) => writer.gap(gap, names))
    if (isNew) this.#options.notes?.gap(gap, names)
  }

  endGap(stream: RecordedStream, at: number): void {
    const ended = this.#changing([stream], ({ writer }) => writer.endGap(stream, at))
    if (ended) this.#options.notes?.gapEnded(stream, at)
  }

  setKept(stream: RecordedStream, span: { from: number; to: number }, kept: boolean, limit: number) {
    return this.#changing([stream], ({ writer }) => writer.setKept(stream, span, kept, limit))
  }

  /** Removes a segment whose file is missing on the disk. */
  forget(stream: RecordedStream, id: number): void {
    this.#changing([stream], ({ writer }) => writer.forget(id))
  }

  deleteSpan(stream: RecordedStream, span: { from: number; to: number }, limit: number) {
    return this.#changing([stream], ({ writer }) => writer.deleteSpan(stream, span, limit))
  }

  deleteOldest(stream: RecordedStream, before: number, limit: number) {
    return this.#changing([stream], ({ writer }) => writer.deleteOldest(stream, before, limit))
  }

  deleteOldestOfAll(limit: number): { segments: number; bytes: number } {
    return this.#deleting((writer) => writer.deleteOldestOfAll(limit))
  }

  deleteOldestLocal(limit: number): { segments: number; bytes: number } {
    return this.#deleting((writer) => writer.deleteOldestLocal(limit))
  }

  /** Calls `use` with the places of segments: on the disk, in object storage, or both. */
  inPlaces<T>(use: (places: ObjectPlaces) => T): T {
    return this.#writing(({ places }) => use(places))
  }

  deleteLive(before: number, limit: number): { segments: number; bytes: number } {
    return this.#deleting((writer) => writer.deleteLive(before, limit))
  }

  removals(limit: number): { id: number; file: string; bytes: number }[] {
    return this.#safely(({ writer }) => writer.removals(limit))
  }

  removed(ids: readonly number[]): void {
    this.#writing(({ writer }) => writer.removed(ids))
  }

  /** Returns the number and size of the files of deleted segments still on the disk. */
  waitingRemovals(): { files: number; bytes: number } {
    return this.#safely(({ writer }) => writer.waitingRemovals())
  }

  dropGaps(before: number): void {
    this.#writing(({ writer }) => writer.dropGaps(before))
  }

  fact(name: string): string | undefined {
    return this.#safely(({ writer }) => writer.fact(name))
  }

  setFact(name: string, value: string): void {
    this.#writing(({ writer }) => writer.setFact(name, value))
  }

  close(): void {
    this.#listeners.clear()
    close(this.#open)
  }

  #deleting(change: (writer: IndexWriter) => DeletedSegments): { segments: number; bytes: number } {
    const { streams, ...sum } = this.#writing(({ writer }) => change(writer))
    this.#announce(streams)
    return sum
  }

  #changing<T>(streams: readonly RecordedStream[], change: (open: OpenDatabase) => T): T {
    const result = this.#writing(change)
    this.#announce(streams)
    return result
  }

  #announce(streams: readonly RecordedStream[]): void {
    if (streams.length > 0) for (const listener of this.#listeners) listener(streams)
  }

  #writing<T>(use: (open: OpenDatabase) => T): T {
    const result = this.#safely(use)
    this.#open.checkpoints.changed()
    return result
  }

  #safely<T>(use: (open: OpenDatabase) => T): T {
    try {
      return use(this.#open)
    } catch (error) {
      if (!isDamage(error)) throw error
      this.#replace(error)
      return use(this.#open)
    }
  }

  #replace(error: unknown): void {
    const { folder, onDamage } = this.#options
    try {
      close(this.#open)
    } finally {
      setAside(folder)
      this.#open = openDatabase(folder).opened
    }
    onDamage(error instanceof Error ? error.message : String(error))
  }
}

function close({ checkpoints, database }: OpenDatabase): void {
  checkpoints.close()
  database.close()
}

function openDatabase(folder: string): { opened: OpenDatabase; made: boolean } {
  const path = insideOf(folder, indexFile)
  const database = new DatabaseSync(path, { timeout: 2_000 })
  try {
    const made = prepareSchema(database)
    const ids = new StreamIds(database)
    return {
      opened: {
        database,
        reader: new IndexReader(database, ids),
        writer: new IndexWriter(database, ids),
        places: new ObjectPlaces(database),
        checkpoints: new Checkpoints(path),
      },
      made,
    }
  } catch (error) {
    database.close()
    throw error
  }
}

function openOrReplace(folder: string, onDamage: IndexOptions['onDamage']): { opened: OpenDatabase; made: boolean } {
  try {
    return openDatabase(folder)
  } catch (error) {
    if (!isDamage(error)) throw error
    setAside(folder)
    onDamage(error instanceof Error ? error.message : String(error))
    return openDatabase(folder)
  }
}

/** Renames the damaged file, so that it can be analysed later, and deletes an earlier one. */
function setAside(folder: string): void {
  for (const companion of companions) {
    const file = insideOf(folder, `${indexFile}${companion}`)
    if (companion === '') {
      const aside = withSuffix(file, '.damaged')
      rmSync(aside, { force: true })
      renameFileSync(file, aside)
    } else rmSync(file, { force: true })
  }
}
