import type { EndedFacts, Gap, SegmentFacts } from '../../shared/recordings/segment.ts'

/** Largest difference between a reported moment and the controller's clock, in milliseconds: clocks are set, and the first group of pictures may be old. */
const maxSkewMs = 24 * 60 * 60_000
/** Longest segment, in milliseconds: one ends at the first key frame after a minute, and some cameras send none for long. */
const maxLengthMs = 24 * 60 * 60_000
/** Bytes of a segment without any media, and of a millisecond of it (2 Gbit/s). */
const baseBytes = 64 * 1024 * 1024
const bytesPerMs = 250_000

/** Why the beginning of a segment is not believed; undefined: it is. @param now milliseconds since the epoch */
export function beginProblem({ startedAt }: SegmentFacts, now: number): string | undefined {
  return isNear(startedAt, now) ? undefined : 'it begins at another time'
}

/** Why the end of a segment is not believed; undefined: it is. */
export function endProblem({ startedAt, endedAt, bytes }: EndedFacts): string | undefined {
  if (endedAt < startedAt || endedAt > startedAt + maxLengthMs) return 'it ends at an impossible time'
  return bytes > baseBytes + (endedAt - startedAt) * bytesPerMs ? 'it has an impossible size' : undefined
}

/** Why a gap is not believed; undefined: it is. @param now milliseconds since the epoch */
export function gapProblem({ from, to }: Gap, now: number): string | undefined {
  if (!isNear(from, now)) return 'it begins at another time'
  return to === null || (to >= from && isNear(to, now)) ? undefined : 'it ends at an impossible time'
}

function isNear(moment: number, now: number): boolean {
  return Math.abs(moment - now) <= maxSkewMs
}
