import type { Gap, RecordedStream, Segment, SegmentStart } from '../../shared/recordings/segment.ts'

/** A segment in the index. */
export interface IndexedSegment extends Segment {
  /** Unique in this index for good. */
  id: number
  /** Kept whatever the retention. */
  kept: boolean
  /** Uploaded to object storage; the local file may be gone. */
  stored: 'local' | 'both' | 'remote'
}

/** A segment that is being written. */
export interface OpenSegment extends SegmentStart {
  id: number
}

/** Bounds of a search; times are milliseconds since the epoch, overlapping counts. */
export interface SegmentQuery extends Partial<RecordedStream> {
  from?: number
  to?: number
  /** Maximum number of results; default 2,000. */
  limit?: number
}

/** Bounds of a list of sources. */
export interface SourceQuery {
  roomIds?: readonly string[] | undefined
  /** Cameras, or people. */
  device?: boolean | undefined
  /** Text in names and numbers. */
  search?: string | undefined
  from?: number | undefined
  to?: number | undefined
  offset?: number | undefined
  /** Left out: all. */
  limit?: number | undefined
}

/** A stream of which something is recorded. */
export interface RecordedSource extends RecordedStream {
  userName: string
  topic: string
  device: boolean
  firstAt: number
  lastAt: number
  bytes: number
  segments: number
}

/** Index of the recordings of one folder. It lies in that folder and is rebuilt from the files when it is lost. */
export interface RecordingIndex {
  /** Segments in order of time. */
  segments(query: SegmentQuery): readonly IndexedSegment[]
  segment(id: number): IndexedSegment | undefined
  /** Segments that are being written, e.g. for live viewing. */
  open(query: SegmentQuery): readonly OpenSegment[]
  gaps(query: SegmentQuery): readonly Gap[]
  /** The last recorded first. */
  sources(query?: SourceQuery): readonly RecordedSource[]
  /** Called after segments were added, ended or deleted. Returns the unsubscribe function. */
  onChange(listener: (streams: readonly RecordedStream[]) => void): () => void
}
