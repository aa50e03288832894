import { pause } from '../../../shared/sleep.ts'
import type { RecordedStream, SegmentStart } from '../../../shared/recordings/segment.ts'
import type { FragmentTables } from '../playback/fragment-table.ts'
import type { SegmentQuery } from '../recording-index.ts'
import { fragmentEnd, LiveWindow } from './live-window.ts'

/** A new stream shows what was recorded this long before, if it was recorded anyway, in milliseconds. */
const backMs = 12_000
/** Interval between two looks at a file that grows, in milliseconds. */
const lookMs = 200

/** Segments that a live stream is read from: complete ones, and those that are being written. */
export interface LiveSegments {
  segments(query: SegmentQuery): readonly SegmentStart[]
  open(query: SegmentQuery): readonly SegmentStart[]
}

/** Needs of a live stream. */
export interface LiveStreamParts {
  index: LiveSegments
  tables: Pick<FragmentTables, 'of'>
  clock: () => number
}

/** The last seconds of one recorded stream, read from its files as they grow. */
export class LiveStream {
  readonly stream: RecordedStream
  readonly window = new LiveWindow()
  readonly #parts: LiveStreamParts
  #refreshing: Promise<void> | undefined
  /** Segment that was read last; its facts are of use to players. */
  #segment: SegmentStart | undefined
  /** Segments before this are not shown, in milliseconds since the epoch. */
  readonly #since: number

  constructor(stream: RecordedStream, parts: LiveStreamParts) {
    this.stream = stream
    this.#parts = parts
    this.#since = parts.clock() - backMs
  }

  /** Facts of the newest segment; undefined: nothing came yet. */
  get segment(): SegmentStart | undefined {
    return this.#segment
  }

  /** Reads what was written since the last time; callers at the same time share one reading. @throws what the file system says */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  /** Resolves when there is something newer than `after`, or after `maxMs`. */
  async wait(after: number, maxMs: number, signal: AbortSignal): Promise<void> {
    const deadline = performance.now() + maxMs
    while (!signal.aborted) {
      await this.refresh()
      if (endOf(this.window) > after || performance.now() >= deadline) return
      await pause(lookMs, { signal })
    }
  }

  /** The segment with this name, for its bytes; undefined: there is none in the window. */
  segmentAt(startedAt: number): SegmentStart | undefined {
    return this.#found(startedAt - 1, startedAt + 1).find((segment) => Math.round(segment.startedAt) === startedAt)
  }

  async #refresh(): Promise<void> {
    const { tables, clock } = this.#parts
    const last = this.window.last
    const from = last?.segment ?? this.#since
    for (const segment of this.#found(from, Number.MAX_SAFE_INTEGER)) {
      const name = Math.round(segment.startedAt)
      const begun = this.window.last
      if (begun !== undefined && name < begun.segment) continue
      // Deleted or unreadable: the next one goes on.
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

  /** Segments of the stream, those that are being written last. */
  #found(from: number, to: number): SegmentStart[] {
    const { index } = this.#parts
    const query = { ...this.stream, from, to }
    return [...index.segments(query), ...index.open(query)].sort((one, other) => one.startedAt - other.startedAt)
  }
}

/** Moment of the end of the newest fragment, in milliseconds since the epoch; 0: there is none. */
function endOf({ last }: LiveWindow): number {
  return last === undefined ? 0 : fragmentEnd(last)
}
