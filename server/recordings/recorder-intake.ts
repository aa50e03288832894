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
import type { RepairedFile } from './index/recorded-files.ts'
import type { RoomOrders } from './room-orders.ts'
import type { RecordingRate, StorageWatch } from './disk-space.ts'

export interface IntakeDependencies {
  index: StoredIndex
  orders: Pick<RoomOrders, 'covers' | 'wants' | 'windowOf'>
  rate: RecordingRate
  space: Pick<StorageWatch, 'isLow'>
  /** Returns the names of a stream for the index. */
  namesOf: (stream: RecordedStream) => { userName: string; topic: string; device: boolean }
  /** Completes a file left open by its process. Never rejects. */
  repair: (segment: SegmentStart) => Promise<RepairedFile>
  /** Called when streams of a room start or stop being written. */
  changed: (roomId: string) => void
  /** Called when a stream's file cannot be written; `reason` is undefined when writing succeeds again. */
  failing: (stream: RecordedStream, reason: GapReason | undefined) => void
  /** Called with the delay of a node's disk, in milliseconds; 0: the disk keeps up. */
  late: (node: string, ms: number) => void
  /** Called when a file was repaired. */
  repaired: (segment: Segment) => void
  logger: NodeLogger
  now?: () => number
}

/** Segment being written by a node. */
interface Writing {
  node: string
  segment: SegmentStart
}

/** Reasons of gaps that are caused by the disk or a file, not by the camera. */
const diskReasons: ReadonlySet<GapReason> = new Set<GapReason>(['diskFull', 'failed'])

/** Minimum interval between log lines about rejected reports, in milliseconds. */
const rejectedLogMs = 60_000

/**
 * Adds the reports of the recorders to the index, and completes files left open by an ended process. The reporting
 * program receives media from guests, so it may have been compromised. A report is therefore accepted only if it fits
 * an order sent to the program, and the path of each file is computed here.
 */
export class RecorderIntake implements RecorderListener {
  readonly #dependencies: IntakeDependencies
  readonly #now: () => number
  /** Segments being written, by file. */
  readonly #writing = new Map<string, Writing>()
  /** Number of segments being written, by stream. */
  readonly #streams = new Map<string, number>()
  #repairs: Promise<void> = Promise.resolve()
  /** Number of rejected reports since the last log line, and the time of that line. */
  #rejected = { count: 0, loggedAt: -Infinity }

  constructor(dependencies: IntakeDependencies) {
    this.#dependencies = dependencies
    this.#now = dependencies.now ?? Date.now
  }

  /** Completes the files left open by an earlier process of the controller. Resolves when all are complete. */
  async start(): Promise<void> {
    const open = this.#dependencies.index.open({ limit: Number.MAX_SAFE_INTEGER })
    for (const { id: _, ...segment } of open) this.#cut(segment)
    await this.#repairs
  }

  /** Resolves when no file is being repaired. */
  async settled(): Promise<void> {
    await this.#repairs
  }

  /** Whether any file is being written. */
  get isBusy(): boolean {
    return this.#writing.size > 0
  }

  /**
   * Returns the streams being recorded, for screens, APIs and metrics. Buffers for live viewers are excluded.
   * @param roomId room; undefined: all rooms
   */
  recordedNow(roomId?: string): RecordedStream[] {
    const recorded = new Map<string, RecordedStream>()
    for (const { segment } of this.#writing.values())
      if ((roomId === undefined || segment.roomId === roomId) && !this.#isLiveOnly(segment))
        recorded.set(streamKey(segment), streamOf(segment))
    return [...recorded.values()]
  }

  /** Whether a stream is being recorded. */
  isRecorded(stream: RecordedStream): boolean {
    return this.#streams.has(streamKey(stream)) && !this.#isLiveOnly(stream)
  }

  /** Whether a file is being written. */
  isOpen(file: string): boolean {
    return this.#writing.has(file)
  }

  take(node: string, event: RecorderEvent): void {
    if (event.type === 'segmentBegan') this.#began(node, event.segment)
    else if (event.type === 'segmentEnded') this.#ended(node, event.segment)
    else if (event.type === 'recordingGap') this.#takeGap(node, event.gap)
    else this.#dependencies.late(node, event.ms)
  }

  /** Handles the end of a node's process, which has stopped writing files. */
  restarted(node: string): void {
    this.#dependencies.late(node, 0)
    for (const { node: writer, segment } of [...this.#writing.values()]) if (writer === node) this.#cut(segment)
  }

  #began(node: string, facts: SegmentFacts): void {
    const problem = this.#orderProblem(node, facts) ?? beginProblem(facts, this.#now())
    if (problem !== undefined) return this.#reject(node, facts, problem)
    const segment = withPath(facts)
    const writing = this.#writing.get(segment.file)
    if (writing !== undefined && writing.node !== node) return this.#reject(node, facts, 'another node writes it')
    this.#dependencies.index.writer.began(segment)
    if (writing !== undefined) return
    this.#writing.set(segment.file, { node, segment })
    const key = streamKey(segment)
    const count = this.#streams.get(key) ?? 0
    this.#streams.set(key, count + 1)
    if (count > 0) return
    this.#dependencies.failing(segment, undefined)
    this.#dependencies.changed(segment.roomId)
  }

  /**
   * Handles the end of a segment whose start was reported. The order of the segment may have been withdrawn meanwhile.
   */
  #ended(node: string, facts: EndedFacts): void {
    const { endedAt, bytes, end } = facts
    const begun = this.#begun(node, withPath(facts))
    if (begun === undefined) return this.#reject(node, facts, 'it did not begin')
    const problem = endProblem(facts)
    if (problem !== undefined) {
      this.#reject(node, facts, problem)
      // The report is invalid: the content of the file decides.
      return this.#cut(begun)
    }
    const segment = { ...begun, endedAt, bytes, end }
    this.#dependencies.index.writer.ended(segment, this.#isLiveOnly(segment))
    // Buffers for live viewers do not grow, so they do not count.
    if (!this.#isLiveOnly(segment)) this.#dependencies.rate.add(segment.bytes, this.#now())
    this.#notWriting(segment)
    const { orders, space } = this.#dependencies
    if (segment.end === 'stopped' && space.isLow && orders.wants(segment))
      this.#gap({ ...streamOf(segment), from: segment.endedAt, to: null, reason: 'storageLow' })
  }

  /** Whether a stream serves live viewing only. */
  #isLiveOnly(stream: RecordedStream): boolean {
    return this.#dependencies.orders.windowOf(stream) !== undefined
  }

  /** Returns the start of a segment that the node reported, or that an earlier run of the controller stored. */
  #begun(node: string, { file, ...stream }: SegmentStart): SegmentStart | undefined {
    const writing = this.#writing.get(file)
    if (writing !== undefined) return writing.node === node ? writing.segment : undefined
    const stored = this.#dependencies.index.open(streamOf(stream)).find((open) => open.file === file)
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
    return this.#dependencies.orders.covers(node, stream) ? undefined : 'no order covers it'
  }

  /** Logs rejected reports, at most one line per minute. */
  #reject(node: string, { roomId, userId }: RecordedStream, why: string): void {
    this.#rejected.count += 1
    const now = this.#now()
    if (Math.abs(now - this.#rejected.loggedAt) < rejectedLogMs) return
    const { count } = this.#rejected
    this.#rejected = { count: 0, loggedAt: now }
    this.#dependencies.logger.warn({ node, room: roomId, user: userId, why, count }, 'recorder report rejected')
  }

  #gap(gap: Gap): void {
    this.#dependencies.index.writer.gap(gap, this.#dependencies.namesOf(gap))
    if (diskReasons.has(gap.reason)) this.#dependencies.failing(gap, gap.reason)
  }

  #notWriting(segment: SegmentStart): void {
    if (!this.#writing.delete(segment.file)) return
    const key = streamKey(segment)
    const count = this.#streams.get(key) ?? 1
    if (count > 1) this.#streams.set(key, count - 1)
    else {
      this.#streams.delete(key)
      this.#dependencies.changed(segment.roomId)
    }
  }

  /**
   * Closes a segment whose process has ended. Repairs run one after another, because a start may find thousands of
   * segments.
   */
  #cut(segment: SegmentStart): void {
    this.#notWriting(segment)
    this.#repairs = this.#repairs.then(async () => {
      try {
        await this.#complete(segment)
      } catch (error) {
        this.#dependencies.logger.error(
          { err: error, file: segment.file },
          'a recording that was cut off is not in the index',
        )
      }
    })
  }

  async #complete(segment: SegmentStart): Promise<void> {
    const { index, repair, repaired } = this.#dependencies
    const found = await repair(segment)
    // A report arrived meanwhile: the same file is being written again.
    if (this.#writing.has(segment.file)) return
    let from = segment.startedAt
    if (found.segment === undefined) index.writer.discardOpen(segment)
    else {
      from = found.segment.endedAt
      index.writer.ended(found.segment, this.#isLiveOnly(segment))
      if (found.wasCut) repaired(found.segment)
    }
    if (this.#streams.has(streamKey(segment))) return this.#gapUntilNow(segment, from)
    this.#gap({ ...streamOf(segment), from, to: null, reason: 'nodeAway' })
    this.#dependencies.changed(segment.roomId)
  }

  /** Adds a gap up to the start of the stream's open segment. If no segment is open, the gap ends now. */
  #gapUntilNow(segment: SegmentStart, from: number): void {
    const [next] = this.#dependencies.index.open({ ...streamOf(segment) })
    const to = next?.startedAt ?? this.#now()
    if (to > from) this.#dependencies.index.writer.gap({ ...streamOf(segment), from, to, reason: 'nodeAway' }, segment)
  }
}

function streamOf({ roomId, userId, source, quality }: RecordedStream): RecordedStream {
  return { roomId, userId, source, quality }
}

/**
 * Maximum difference between a reported time and the controller's clock, in milliseconds. Clocks are adjusted, and the
 * first group of pictures may be old.
 */
const maxSkewMs = 24 * 60 * 60_000
/**
 * Maximum duration of a segment, in milliseconds. A segment ends at the first key frame after a minute, and some
 * cameras send key frames rarely.
 */
const maxLengthMs = 24 * 60 * 60_000
/**
 * Maximum size of a segment without media in bytes, and the maximum number of bytes per millisecond of media (2
 * Gbit/s).
 */
const baseBytes = 64 * 1024 * 1024
const bytesPerMs = 250_000

/**
 * Returns the reason why the start of a segment is invalid; undefined if it is valid.
 * @param now milliseconds since the epoch
 */
function beginProblem({ startedAt }: SegmentFacts, now: number): string | undefined {
  return isNear(startedAt, now) ? undefined : 'it begins at another time'
}

/** Returns the reason why the end of a segment is invalid; undefined if it is valid. */
function endProblem({ startedAt, endedAt, bytes }: EndedFacts): string | undefined {
  if (endedAt < startedAt || endedAt > startedAt + maxLengthMs) return 'it ends at an impossible time'
  return bytes > baseBytes + (endedAt - startedAt) * bytesPerMs ? 'it has an impossible size' : undefined
}

/** Returns the reason why a gap is invalid; undefined if it is valid. @param now milliseconds since the epoch */
function gapProblem({ from, to }: Gap, now: number): string | undefined {
  if (!isNear(from, now)) return 'it begins at another time'
  return to === null || (to >= from && isNear(to, now)) ? undefined : 'it ends at an impossible time'
}

function isNear(moment: number, now: number): boolean {
  return Math.abs(moment - now) <= maxSkewMs
}
