import { segmentPath, withPath } from '../../../shared/recordings/segment-path.ts'
import type {
  RecordedStream as StreamName,
  EndedFacts,
  RecorderEvent,
  SegmentEnd,
  SegmentFacts,
} from '../../../shared/recordings/segment.ts'
import type { Playback } from '../feeds/feed-playback.ts'
import { type MediaLog, wholeText } from '../base/media-log.ts'
import type { SegmentStartFacts, SegmentTarget } from './open-segment.ts'
import type { RecordingDisk } from './recording-disk.ts'
import type { YieldingScheduler } from './yielding-scheduler.ts'
import { SegmentFile } from './segment-file.ts'
import type { SegmentOpener } from './segmenter.ts'

/** Step of the system clock above which a new segment begins, in milliseconds. */
const clockStepMs = 500

/** Facts about a stream that are stored with its segments. */
export interface StreamFacts extends StreamName {
  userName: string
  topic: string
  device: boolean
}

export interface RecordingDependencies {
  disk: RecordingDisk
  /** Event loop turns in which fragments are made. */
  scheduler: YieldingScheduler
  emit: (event: RecorderEvent) => void
  log: MediaLog
  /** Milliseconds of a monotonic clock. */
  now: () => number
  /** Milliseconds since the epoch. */
  wall: () => number
}

interface OpenFile {
  file: SegmentFile
  start: SegmentFacts
  /** Offset of the system clock from `now` when the file began. */
  wallOffset: number
}

/** Files of one stream's segments: names them, reports them, and completes them in the background. */
export class StreamFiles implements SegmentOpener {
  readonly #dependencies: RecordingDependencies
  readonly #facts: () => StreamFacts
  readonly #playback: Playback
  #open: OpenFile | undefined
  /** Files being completed. */
  readonly #closing = new Set<Promise<void>>()
  #isOver = false
  /** End of the last segment, in milliseconds since the epoch; undefined: there was none. */
  endedAt: number | undefined

  /**
   * @param facts returns the current facts when a segment begins
   * @param playback provides the tracks that are not recorded
   */
  constructor(facts: () => StreamFacts, playback: Playback, dependencies: RecordingDependencies) {
    this.#facts = facts
    this.#playback = playback
    this.#dependencies = dependencies
  }

  /** Whether the system clock was set since the open segment began. */
  get isClockSet(): boolean {
    const { now, wall } = this.#dependencies
    return this.#open !== undefined && Math.abs(wall() - now() - this.#open.wallOffset) > clockStepMs
  }

  open({ at, senderAt, picture, sound }: SegmentStartFacts): SegmentTarget | undefined {
    const { disk, scheduler, emit, now, wall } = this.#dependencies
    if (this.#isOver || disk.trouble !== undefined) return undefined
    const { userName, topic, device, ...stream } = this.#facts()
    const container = picture?.codec === 'vp8' ? 'webm' : 'mp4'
    // WebM files have no other sound codec.
    const supported = container === 'mp4' || sound?.codec === 'opus' ? sound : undefined
    const wallOffset = wall() - now()
    let startedAt = Math.max(0, Math.round(at + wallOffset))
    // After the clock was set back, the same time may occur again.
    while (disk.has(segmentPath(stream, startedAt, container))) startedAt += 1
    const lacks = this.#playback.lacksInRecording(supported !== undefined)
    const start: SegmentFacts = {
      ...stream,
      container,
      userName,
      topic,
      device,
      startedAt,
      senderStartedAt: senderAt === null ? null : Math.max(0, senderAt),
      videoCodec: picture?.codecString ?? '',
      audioCodec: supported?.codecString ?? '',
      width: picture?.width ?? 0,
      height: picture?.height ?? 0,
      ...(lacks.length === 0 ? {} : { lacks }),
    }
    // Earlier versions read the path from the file's metadata.
    const named = withPath(start)
    const content = { container, picture, sound: supported, comment: JSON.stringify(named) } as const
    const file = new SegmentFile(disk.create(named.file), content, scheduler)
    this.#open = { file, start, wallOffset }
    emit({ type: 'segmentBegan', segment: start })
    return file
  }

  close(_target: SegmentTarget, end: SegmentEnd): void {
    const open = this.#open
    this.#open = undefined
    if (open === undefined) return
    this.endedAt = open.start.startedAt + open.file.endMs
    const work = this.#complete(open, end).finally(() => this.#closing.delete(work))
    this.#closing.add(work)
  }

  /** Prevents further segments. Resolves when all files are complete. */
  async end(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#closing)
  }

  async #complete({ file, start }: OpenFile, end: SegmentEnd): Promise<void> {
    const { emit, log } = this.#dependencies
    const { bytes, durationMs, trouble } = await file.end()
    if (file.failure !== undefined) log.error('recordings: a file could not be made', wholeText(file.failure))
    const segment: EndedFacts = { ...start, endedAt: start.startedAt + durationMs, bytes, end: trouble ?? end }
    emit({ type: 'segmentEnded', segment })
  }
}
