import type { LackExtent, SegmentExtent } from './index/stored-index.ts'
import { lacksOf } from './index/row.ts'
import type { LackingSpan, RecordedSpan } from '../../shared/domain/recordings.ts'

/**
 * Merges consecutive segments into spans. A change of `kept` starts a new span.
 * @param segments sorted by time
 * @param mergeMs maximum pause inside a span, in milliseconds
 */
export function spansOf(segments: readonly SegmentExtent[], mergeMs: number): RecordedSpan[] {
  const spans: RecordedSpan[] = []
  let last: RecordedSpan | undefined
  for (const { from, to, bytes, kept } of segments) {
    if (last?.kept === kept && from - last.to <= mergeMs) {
      last.to = Math.max(last.to, to)
      last.segments++
      last.bytes += bytes
    } else {
      last = { from, to, segments: 1, bytes, kept, open: false }
      spans.push(last)
    }
  }
  return spans
}

/**
 * Merges consecutive segments that lack the same tracks into spans.
 * @param segments sorted by time
 * @param mergeMs maximum pause inside a span, in milliseconds
 */
export function lackingSpans(segments: readonly LackExtent[], mergeMs: number): LackingSpan[] {
  const spans: LackExtent[] = []
  for (const segment of segments) {
    const last = spans.at(-1)
    if (last?.tracks === segment.tracks && segment.from - last.to <= mergeMs) last.to = Math.max(last.to, segment.to)
    else spans.push({ ...segment })
  }
  return spans.map(({ from, to, tracks }) => ({ from, to, tracks: lacksOf(tracks) }))
}

/**
 * Appends an open segment to a time line. @param now current end of the open segment, in milliseconds since the epoch
 */
export function withOpenSegment(
  spans: readonly RecordedSpan[],
  startedAt: number,
  now: number,
  mergeMs: number,
): RecordedSpan[] {
  const last = spans.at(-1)
  const to = Math.max(startedAt, now)
  if (last === undefined || startedAt - last.to > mergeMs) {
    return [...spans, { from: startedAt, to, segments: 1, bytes: 0, kept: false, open: true }]
  }
  return [...spans.slice(0, -1), { ...last, to, segments: last.segments + 1, open: true }]
}
