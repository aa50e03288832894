import type { SegmentStart } from '../../../../shared/recordings/segment.ts'
import type { LiveSegments } from '../live-stream.ts'

/** Segments of a mix, in order of time: the last one is being written. */
export class MixSegments implements LiveSegments {
  readonly #list: (SegmentStart & { endedAt: number })[] = []

  /** Begins one, at once behind the one before. */
  begin(segment: SegmentStart): void {
    this.end(segment.startedAt)
    this.#list.push({ ...segment, endedAt: Infinity })
  }

  /** The one that is being written is complete. @param at milliseconds since the epoch */
  end(at: number): void {
    const last = this.#list.at(-1)
    if (last !== undefined) last.endedAt = Math.min(last.endedAt, at)
  }

  /** Forgets those that ended before this moment, and returns them. */
  forget(before: number): SegmentStart[] {
    const kept = this.#list.findIndex(({ endedAt }) => endedAt >= before)
    return this.#list.splice(0, kept < 0 ? this.#list.length : kept)
  }

  segments({ from = 0, to = Infinity }: { from?: number; to?: number }): readonly SegmentStart[] {
    return this.#list.filter(({ startedAt, endedAt }) => startedAt <= to && endedAt >= from)
  }

  /** All are in `segments`. */
  open(): readonly SegmentStart[] {
    return []
  }
}
