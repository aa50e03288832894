import type {
  IndexedSegment,
  OpenIndexEntry,
  RecordedSource,
  RecordingIndex,
  SegmentQuery,
} from '../../../server/recordings/recording-index.ts'
import type { Gap, RecordedStream, Segment } from '../../../shared/recordings/segment.ts'

/** An index in memory, of segments that a test has made. */
export class MemoryIndex implements RecordingIndex {
  readonly #segments: IndexedSegment[] = []
  readonly #open: OpenIndexEntry[] = []
  readonly #gaps: Gap[] = []
  readonly #listeners = new Set<(streams: readonly RecordedStream[]) => void>()

  /** @returns the ids, in the order of the segments */
  add(segments: readonly Segment[]): number[] {
    return segments.map((segment) => {
      const id = this.#next()
      this.#segments.push({ ...segment, id, kept: false, stored: 'local' })
      for (const listener of this.#listeners) listener([segment])
      return id
    })
  }

  addOpen(segment: Segment): number {
    const id = this.#next()
    this.#open.push({ ...segment, id })
    return id
  }

  addGap(gap: Gap): void {
    this.#gaps.push(gap)
  }

  segments(query: SegmentQuery): readonly IndexedSegment[] {
    return this.#segments
      .filter((segment) => matches(segment, segment.startedAt, segment.endedAt, query))
      .toSorted((one, other) => one.startedAt - other.startedAt)
      .slice(0, query.limit ?? 2_000)
  }

  segment(id: number): IndexedSegment | undefined {
    return this.#segments.find((segment) => segment.id === id)
  }

  open(query: SegmentQuery): readonly OpenIndexEntry[] {
    return this.#open.filter((segment) => matches(segment, segment.startedAt, Number.POSITIVE_INFINITY, query))
  }

  gaps(query: SegmentQuery): readonly Gap[] {
    return this.#gaps.filter((gap) => matches(gap, gap.from, gap.to ?? Number.POSITIVE_INFINITY, query))
  }

  sources(): readonly RecordedSource[] {
    const all = Map.groupBy(this.#segments, ({ roomId, userId, source, quality }) =>
      JSON.stringify([roomId, userId, source, quality]),
    )
    return [...all.values()].flatMap((segments) => {
      const [first] = segments
      if (first === undefined) return []
      const { roomId, userId, source, quality, userName, topic, device, startedAt: firstAt } = first
      const bytes = segments.reduce((sum, segment) => sum + segment.bytes, 0)
      const lastAt = Math.max(...segments.map(({ endedAt }) => endedAt))
      const facts = { firstAt, lastAt, bytes, segments: segments.length }
      return [{ roomId, userId, source, quality, userName, topic, device, ...facts }]
    })
  }

  onChange(listener: (streams: readonly RecordedStream[]) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #next(): number {
    return this.#segments.length + this.#open.length + 1
  }
}

function matches(stream: RecordedStream, from: number, to: number, query: SegmentQuery): boolean {
  const { roomId, userId, source, quality } = query
  return (
    (roomId ?? stream.roomId) === stream.roomId &&
    (userId ?? stream.userId) === stream.userId &&
    (source ?? stream.source) === stream.source &&
    (quality ?? stream.quality) === stream.quality &&
    to > (query.from ?? 0) &&
    from < (query.to ?? Number.POSITIVE_INFINITY)
  )
}
