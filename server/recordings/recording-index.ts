import type { Gap, RecordedStream, Segment, SegmentStart } from '../../shared/recordings/segment.ts'

export interface IndexedSegment extends Segment {
  /** Unique in this index, and never reused. */
  id: number
  /** Whether the segment is kept regardless of the retention. */
  kept: boolean
  /** Places of the segment: the local disk, object storage, or both. */
  stored: 'local' | 'both' | 'remote'
}

/** Segment being written. */
export interface OpenIndexEntry extends SegmentStart {
  id: number
}

/** Filter of segments. Times are milliseconds since the epoch; segments that overlap the span match. */
export interface SegmentQuery extends Partial<RecordedStream> {
  from?: number
  to?: number
  /** Maximum number of results; default: 2,000. */
  limit?: number
}

/** Filter of sources. */
export interface SourceQuery {
  roomIds?: readonly string[] | undefined
  /** Whether the sources are cameras; false: people; undefined: both. */
  device?: boolean | undefined
  /** Text to find in names and ids. */
  search?: string | undefined
  from?: number | undefined
  to?: number | undefined
  offset?: number | undefined
  /** Maximum number of sources; undefined: all sources. */
  limit?: number | undefined
}

/** Stream with recordings. */
export interface RecordedSource extends RecordedStream {
  userName: string
  topic: string
  device: boolean
  firstAt: number
  lastAt: number
  bytes: number
  segments: number
}

/** Index of the recordings of one folder. If it is lost, it is rebuilt from the files. */
export interface RecordingIndex {
  /** Returns segments sorted by time. */
  segments(query: SegmentQuery): readonly IndexedSegment[]
  segment(id: number): IndexedSegment | undefined
  /** Returns segments being written, e.g. for live viewing. */
  open(query: SegmentQuery): readonly OpenIndexEntry[]
  gaps(query: SegmentQuery): readonly Gap[]
  /** Returns the sources, the most recently recorded first. */
  sources(query?: SourceQuery): readonly RecordedSource[]
  /** Called after segments were added, ended or deleted. Returns the unsubscribe function. */
  onChange(listener: (streams: readonly RecordedStream[]) => void): () => void
}
