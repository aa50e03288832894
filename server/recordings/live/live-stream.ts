import { pause } from '../../../shared/sleep.ts'
import type { RecordedStream, SegmentStart } from '../../../shared/recordings/segment.ts'
import type { FragmentTables } from '../playback/fragment-table.ts'
import type { SegmentQuery } from '../recording-index.ts'
import { fragmentEnd, LiveWindow } from './live-window.ts'

/** Maximum age of existing recordings that a new stream shows first, in milliseconds. */
const backMs = 12_000
/** Interval between two checks of a growing file, in milliseconds. */
const lookMs = 200

/** Complete and open segments from which a live stream is read. */
export interface LiveSegments {
  segments(query: SegmentQuery): readonly SegmentStart[]
  open(query: SegmentQuery): readonly SegmentStart[]
}

export interface LiveStreamDependencies {
  index: LiveSegments
  tables: Pick<FragmentTables, 'of'>
  clock: () => number
}

/** The last seconds of one recorded stream, read from its files as they grow. */
export class LiveStream {
  readonly stream: RecordedStream
  readonly window = new LiveWindow()
  readonly #dependencies: LiveStreamDependencies
  #refreshing: Promise<void> | undefined
  /** Segment that was read last. Players need its codecs and size. */
  #segment: SegmentStart | undefined
  /** Segments before this time are not shown, in milliseconds since the epoch. */
  readonly #since: number

  constructor(stream: RecordedStream, dependencies: LiveStreamDependencies) {
    this.stream = stream
    this.#dependencies = dependencies
    this.#since = dependencies.clock() - backMs
  }

  /** Newest segment; undefined if none was read yet. */
  get segment(): SegmentStart | undefined {
    return this.#segment
  }

  /**
   * Reads everything written since the last call; concurrent calls share one read.
   * @throws errors of the file system
   */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  /** Resolves when a fragment newer than `after` exists, or after `maxMs`. */
  async wait(after: number, maxMs: number, signal: AbortSignal): Promise<void> {
    const deadline = performance.now() + maxMs
    while (!signal.aborted) {
      await this.refresh()
      if (endOf(this.window) > after || performance.now() >= deadline) return
      await pause(lookMs, { signal })
    }
  }

  /** Returns the segment with this start, for reading its bytes; undefined: no such segment. */
  segmentAt(startedAt: number): SegmentStart | undefined {
    return this.#found(startedAt - 1, startedAt + 1).find((segment) => Math.round(segment.startedAt) === startedAt)
  }

  async #refresh(): Promise<void> {
    const { tables, clock } = this.#dependencies
    const last = this.window.last
    const from = last?.segment ?? this.#since
    for (const segment of this.#found(from, Number.MAX_SAFE_INTEGER)) {
      const name = Math.round(segment.startedAt)
      const begun = this.window.last
      if (begun !== undefined && name < begun.segment) continue
      // A deleted or unreadable segment is skipped.
      const table = await tables.of(segment).catch(() => undefined)
      if (table === undefined) continue
      this.#segment = segment
      for (const { offset, bytes, start, duration } of table.fragments) {
        const { last: newest } = this.window
        if (newest?.segment === name && offset <= newest.offset) continue
        if (newest === undefined && segment.startedAt + (start + duration) * 1_000 < this.#since) continue
        const first = newest?.segment !== name
        this.window.add({ segment: name, init: table.init, offset, bytes, start, duration, first }, clock())
      }
    }
  }

  /** Returns the complete and open segments of the stream, sorted by start. */
  #found(from: number, to: number): SegmentStart[] {
    const { index } = this.#dependencies
    const query = { ...this.stream, from, to }
    return [...index.segments(query), ...index.open(query)].sort((one, other) => one.startedAt - other.startedAt)
  }
}

/** Returns the time of the end of the newest fragment, in milliseconds since the epoch; 0: no fragment. */
function endOf({ last }: LiveWindow): number {
  return last === undefined ? 0 : fragmentEnd(last)
}
