import { withPath } from '../../shared/recordings/segment-path.ts'
import type {
  EndedFacts,
  Gap,
  GapReason,
  RecordedStream,
  RecorderEvent,
  Segment,
  SegmentFacts,
  SegmentStart,
} from '../../shared/recordings/segment.ts'
import type { RecorderListener } from '../nodes/port/gateway-events.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import type { StoredIndex } from './index/stored-index.ts'
import { streamKey } from './index/stream-ids.ts'
import type { RecordingRate } from './recording-rate.ts'
import type { RepairedFile } from './repair-open.ts'

/** Needs of the intake. */
export interface IntakeParts {
  index: StoredIndex
  /** Whether a node was sent an order that covers a stream. */
  isOrdered: (node: string, stream: RecordedStream) => boolean
  rate: RecordingRate
  /** Whether a stream serves live viewing only. */
  isLiveOnly: (stream: RecordedStream) => boolean
  /** Why nothing is recorded of a stream that stops now; undefined: it is not to be recorded. */
  stopReason: (stream: RecordedStream) => GapReason | undefined
  /** Names of a stream for the index. */
  namesOf: (stream: RecordedStream) => { userName: string; topic: string; device: boolean }
  /** Completes a file that its process left open. Never rejects. */
  repair: (segment: SegmentStart) => Promise<RepairedFile>
  /** Streams of a room begin or cease to be written. */
  changed: (roomId: string) => void
  /** A file could not be written, or can be again. */
  failing: (stream: RecordedStream, reason: GapReason | undefined) => void
  /** The disk of a node is late by this time, in milliseconds; 0: it keeps up again. */
  late: (node: string, ms: number) => void
  /** A file was repaired. */
  repaired: (segment: Segment) => void
  logger: NodeLogger
  now?: () => number
}

/** A segment that a node writes. */
interface Writing {
  node: string
  segment: SegmentStart
}

/** Reasons by which a disk or file, rather than a camera, is at fault. */
const diskReasons: ReadonlySet<GapReason> = new Set<GapReason>(['diskFull', 'failed'])

/** Interval between two log lines about rejected reports, in milliseconds. */
const rejectedLogMs = 60_000

/**
 * Takes the reports of the recorders into the index, and completes what a lost process left open. Guests send media to the program that reports, so it may have been taken over: a report
 * counts only if it fits an order that the program was sent, and the path of each file is computed here.
 */
export class RecorderIntake implements RecorderListener {
  readonly #parts: IntakeParts
  readonly #now: () => number
  /** Segments that are written now, by file. */
  readonly #writing = new Map<string, Writing>()
  /** Number of segments that are written now, by stream. */
  readonly #streams = new Map<string, number>()
  #repairs: Promise<void> = Promise.resolve()
  /** Rejected reports since the last log line, and when that was. */
  #rejected = { count: 0, loggedAt: -Infinity }

  constructor(parts: IntakeParts) {
    this.#parts = parts
    this.#now = parts.now ?? Date.now
  }

  /** Completes the files that an earlier process of the controller left open. Resolves when that is done. */
  async start(): Promise<void> {
    const open = this.#parts.index.open({ limit: Number.MAX_SAFE_INTEGER })
    for (const { id: _, ...segment } of open) this.#cut(segment)
    await this.#repairs
  }

  /** Resolves when no file is being repaired. */
  async settled(): Promise<void> {
    await this.#repairs
  }

  /** Whether any file is written now. */
  get isBusy(): boolean {
    return this.#writing.size > 0
  }

  /**
   * Streams that are recorded now, as screens, APIs and metrics show and count them; buffers of live viewers are none.
   * @param roomId room; undefined: all of them
   */
  recordedNow(roomId?: string): RecordedStream[] {
    const recorded = new Map<string, RecordedStream>()
    for (const { segment } of this.#writing.values())
      if ((roomId === undefined || segment.roomId === roomId) && !this.#parts.isLiveOnly(segment))
        recorded.set(streamKey(segment), streamOf(segment))
    return [...recorded.values()]
  }

  /** Whether a stream is recorded now. */
  isRecorded(stream: RecordedStream): boolean {
    return this.#streams.has(streamKey(stream)) && !this.#parts.isLiveOnly(stream)
  }

  /** Whether a file is written now. */
  isOpen(file: string): boolean {
    return this.#writing.has(file)
  }

  take(node: string, event: RecorderEvent): void {
    if (event.type === 'segmentBegan') this.#began(node, event.segment)
    else if (event.type === 'segmentEnded') this.#ended(node, event.segment)
    else if (event.type === 'recordingGap') this.#takeGap(node, event.gap)
    else this.#parts.late(node, event.ms)
  }

  /** The process of a node ended: nothing more is written to its files. */
  restarted(node: string): void {
    this.#parts.late(node, 0)
    for (const { node: writer, segment } of [...this.#writing.values()]) if (writer === node) this.#cut(segment)
  }

  #began(node: string, facts: SegmentFacts): void {
    const problem = this.#orderProblem(node, facts) ?? beginProblem(facts, this.#now())
    if (problem !== undefined) return this.#reject(node, facts, problem)
    const segment = withPath(facts)
    const writing = this.#writing.get(segment.file)
    if (writing !== undefined && writing.node !== node) return this.#reject(node, facts, 'another node writes it')
    this.#parts.index.began(segment)
    if (writing !== undefined) return
    this.#writing.set(segment.file, { node, segment })
    const key = streamKey(segment)
    const count = this.#streams.get(key) ?? 0
    this.#streams.set(key, count + 1)
    if (count > 0) return
    this.#parts.failing(segment, undefined)
    this.#parts.changed(segment.roomId)
  }

  /** Takes the end of a segment that began. The order may have been withdrawn since. */
  #ended(node: string, facts: EndedFacts): void {
    const { endedAt, bytes, end } = facts
    const begun = this.#begun(node, withPath(facts))
    if (begun === undefined) return this.#reject(node, facts, 'it did not begin')
    const problem = endProblem(facts)
    if (problem !== undefined) {
      this.#reject(node, facts, problem)
      // The file itself says what it holds.
      return this.#cut(begun)
    }
    const segment = { ...begun, endedAt, bytes, end }
    this.#parts.index.ended(segment, this.#parts.isLiveOnly(segment))
    // The buffer of live viewers does not grow.
    if (!this.#parts.isLiveOnly(segment)) this.#parts.rate.add(segment.bytes, this.#now())
    this.#notWriting(segment)
    const reason = segment.end === 'stopped' ? this.#parts.stopReason(segment) : undefined
    if (reason !== undefined) this.#gap({ ...streamOf(segment), from: segment.endedAt, to: null, reason })
  }

  /** The beginning that a node reported of a segment, or that an earlier run of the controller stored. */
  #begun(node: string, { file, ...stream }: SegmentStart): SegmentStart | undefined {
    const writing = this.#writing.get(file)
    if (writing !== undefined) return writing.node === node ? writing.segment : undefined
    const stored = this.#parts.index.open(streamOf(stream)).find((open) => open.file === file)
    if (stored === undefined) return undefined
    const { id: _, ...segment } = stored
    return segment
  }

  #takeGap(node: string, gap: Gap): void {
    const problem = this.#orderProblem(node, gap) ?? gapProblem(gap, this.#now())
    if (problem !== undefined) return this.#reject(node, gap, problem)
    this.#gap(gap)
  }

  #orderProblem(node: string, stream: RecordedStream): string | undefined {
    return this.#parts.isOrdered(node, stream) ? undefined : 'no order covers it'
  }

  /** Logs a report that is not believed. A flood of them makes one line a minute. */
  #reject(node: string, { roomId, userId }: RecordedStream, why: string): void {
    this.#rejected.count += 1
    const now = this.#now()
    if (Math.abs(now - this.#rejected.loggedAt) < rejectedLogMs) return
    const { count } = this.#rejected
    this.#rejected = { count: 0, loggedAt: now }
    this.#parts.logger.warn({ node, room: roomId, user: userId, why, count }, 'recorder report rejected')
  }

  #gap(gap: Gap): void {
    this.#parts.index.gap(gap, this.#parts.namesOf(gap))
    if (diskReasons.has(gap.reason)) this.#parts.failing(gap, gap.reason)
  }

  #notWriting(segment: SegmentStart): void {
    if (!this.#writing.delete(segment.file)) return
    const key = streamKey(segment)
    const count = this.#streams.get(key) ?? 1
    if (count > 1) this.#streams.set(key, count - 1)
    else {
      this.#streams.delete(key)
      this.#parts.changed(segment.roomId)
    }
  }

  /** Ends a segment whose process is gone, one after another: a start may find thousands. */
  #cut(segment: SegmentStart): void {
    this.#notWriting(segment)
    this.#repairs = this.#repairs.then(async () => {
      try {
        await this.#complete(segment)
      } catch (error) {
        this.#parts.logger.error({ err: error, file: segment.file }, 'a recording that was cut off is not in the index')
      }
    })
  }

  async #complete(segment: SegmentStart): Promise<void> {
    const { index, repair, repaired } = this.#parts
    const found = await repair(segment)
    // The same file is written again: a report came meanwhile.
    if (this.#writing.has(segment.file)) return
    let from = segment.startedAt
    if (found.segment === undefined) index.discardOpen(segment)
    else {
      from = found.segment.endedAt
      index.ended(found.segment, this.#parts.isLiveOnly(segment))
      if (found.wasCut) repaired(found.segment)
    }
    if (this.#streams.has(streamKey(segment))) return this.#gapUntilNow(segment, from)
    this.#gap({ ...streamOf(segment), from, to: null, reason: 'nodeAway' })
    this.#parts.changed(segment.roomId)
  }

  /** The stream went on before its earlier file was repaired. */
  #gapUntilNow(segment: SegmentStart, from: number): void {
    const [next] = this.#parts.index.open({ ...streamOf(segment) })
    const to = next?.startedAt ?? this.#now()
    if (to > from) this.#parts.index.gap({ ...streamOf(segment), from, to, reason: 'nodeAway' }, segment)
  }
}

function streamOf({ roomId, userId, source, quality }: RecordedStream): RecordedStream {
  return { roomId, userId, source, quality }
}

/** Largest difference between a reported moment and the controller's clock, in milliseconds: clocks are set, and the first group of pictures may be old. */
const maxSkewMs = 24 * 60 * 60_000
/** Longest segment, in milliseconds: one ends at the first key frame after a minute, and some cameras send none for long. */
const maxLengthMs = 24 * 60 * 60_000
/** Bytes of a segment without any media, and of a millisecond of it (2 Gbit/s). */
const baseBytes = 64 * 1024 * 1024
const bytesPerMs = 250_000

/** Returns the reason why the beginning of a segment is invalid; undefined: it is valid. @param now milliseconds since the epoch */
function beginProblem({ startedAt }: SegmentFacts, now: number): string | undefined {
  return isNear(startedAt, now) ? undefined : 'it begins at another time'
}

/** Returns the reason why the end of a segment is invalid; undefined: it is valid. */
function endProblem({ startedAt, endedAt, bytes }: EndedFacts): string | undefined {
  if (endedAt < startedAt || endedAt > startedAt + maxLengthMs) return 'it ends at an impossible time'
  return bytes > baseBytes + (endedAt - startedAt) * bytesPerMs ? 'it has an impossible size' : undefined
}

/** Returns the reason why a gap is invalid; undefined: it is valid. @param now milliseconds since the epoch */
function gapProblem({ from, to }: Gap, now: number): string | undefined {
  if (!isNear(from, now)) return 'it begins at another time'
  return to === null || (to >= from && isNear(to, now)) ? undefined : 'it ends at an impossible time'
}

function isNear(moment: number, now: number): boolean {
  return Math.abs(moment - now) <= maxSkewMs
}
