import type { SegmentStart } from '../../../../shared/recordings/segment.ts'
import type { LiveSegments } from '../live-stream.ts'

/** Segments of a mix, sorted by time. The last segment is being written. */
export class MixSegments implements LiveSegments {
  readonly #list: (SegmentStart & { endedAt: number })[] = []

  /** Starts a segment immediately after the previous one. */
  begin(segment: SegmentStart): void {
    this.end(segment.startedAt)
    this.#list.push({ ...segment, endedAt: Infinity })
  }

  /** Completes the open segment. @param at milliseconds since the epoch */
  end(at: number): void {
    const last = this.#list.at(-1)
    if (last !== undefined) last.endedAt = Math.min(last.endedAt, at)
  }

  /** Removes and returns the segments that ended before this time. */
  forget(before: number): SegmentStart[] {
    const kept = this.#list.findIndex(({ endedAt }) => endedAt >= before)
    return this.#list.splice(0, kept < 0 ? this.#list.length : kept)
  }

  segments({ from = 0, to = Infinity }: { from?: number; to?: number }): readonly SegmentStart[] {
    return this.#list.filter(({ startedAt, endedAt }) => startedAt <= to && endedAt >= from)
  }

  /** Open segments are part of `segments`. */
  open(): readonly SegmentStart[] {
    return []
  }
}
