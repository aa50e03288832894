import { segmentPath } from '../../../shared/recordings/segment-path.ts'
import type {
  GapReason,
  RecordedStream as StreamName,
  RecorderEvent,
  Segment,
  SegmentEnd,
  SegmentStart,
} from '../../../shared/recordings/segment.ts'
import type { Feed } from '../feeds/feed.ts'
import { type Log, wholeText } from '../base/media-log.ts'
import type { SegmentStartFacts, SegmentTarget } from './open-segment.ts'
import type { RecordingDisk } from './recording-disk.ts'
import { SegmentFile } from './segment-file.ts'
import { Segmenter } from './segmenter.ts'
import { soundAssembly } from './sound-assembly.ts'
import { TrackInput } from './track-input.ts'

/** Time without a segment after which that is told as a gap, in milliseconds. */
const gapAfterMs = 2_000
/** Time between requests for a key frame of somebody's picture, in milliseconds. */
const keyFrameEveryMs = 4_000
/** Step of the machine's wall clock that begins a segment, in milliseconds. */
const clockStepMs = 500

/** Facts about a stream that segments carry. */
export interface StreamFacts extends StreamName {
  userName: string
  topic: string
  device: boolean
}

/** What recordings share. */
export interface RecordingParts {
  disk: RecordingDisk
  emit: (event: RecorderEvent) => void
  log: Log
  /** Milliseconds of a clock that never goes back. */
  now: () => number
  /** Milliseconds since the epoch. */
  wall: () => number
}

interface OpenFile {
  file: SegmentFile
  start: SegmentStart
  /** Difference between wall clock and `now` when it began. */
  wallOffset: number
}

/** Recording of one stream. */
export class RecordedStream {
  readonly #parts: RecordingParts
  readonly #feed: Feed
  readonly #facts: () => StreamFacts
  readonly #segmenter: Segmenter
  readonly #sound: TrackInput | undefined
  #picture: { feed: Feed; input: TrackInput | undefined } | undefined
  readonly #endLayers: () => void
  #openFile: OpenFile | undefined
  /** Files that are being completed. */
  readonly #closing = new Set<Promise<void>>()
  /** Since when nothing is recorded, by the wall clock; undefined: something is. */
  #gapSince: number | undefined
  #gapReason: GapReason | undefined
  #keyFrameAt: number
  #isOver = false

  /** @param facts as they are when a segment begins */
  constructor(feed: Feed, facts: () => StreamFacts, parts: RecordingParts) {
    this.#feed = feed
    this.#facts = facts
    this.#parts = parts
    this.#gapSince = parts.wall()
    this.#keyFrameAt = parts.now()
    const { format } = feed.raw.audio
    const sound = format && soundAssembly(format, () => {})
    this.#segmenter = new Segmenter(
      { open: (start) => this.#open(start), close: (_, end) => this.#close(end) },
      sound?.format,
      format?.clockRate ?? 48_000,
      feed.video !== undefined,
    )
    const options = { segmenter: this.#segmenter, now: parts.now, failed: (error: unknown) => this.#failed(error) }
    this.#sound = format && TrackInput.sound(feed.raw.audio, format, { ...options, isMuted: () => feed.sound.muted })
    if (format !== undefined && this.#sound === undefined) {
      const { roomId, userId } = facts()
      parts.log.info('recordings: sound is left out', `${userId} in ${roomId}: ${format.codec} is not recorded`)
    }
    this.#endLayers = feed.layers?.onChange(() => this.#choosePicture()) ?? (() => {})
    this.#choosePicture()
  }

  get feed(): Feed {
    return this.#feed
  }

  /** Time passes: several times a second. */
  tick(): void {
    const now = this.#parts.now()
    this.#segmenter.tick(now)
    this.#noteWallClock(now)
    if (!this.#facts().device && now - this.#keyFrameAt > keyFrameEveryMs) {
      this.#keyFrameAt = now
      this.#picture?.feed.requestKeyFrame()
    }
    if (!this.#segmenter.isOpen) this.#noteGap(now)
  }

  /** Ends it. Resolves when its files are complete; never rejects. */
  async end(reason: SegmentEnd): Promise<void> {
    if (!this.#isOver) {
      this.#segmenter.end(reason, this.#parts.now())
      this.#isOver = true
      this.#endLayers()
      this.#sound?.close()
      this.#picture?.input?.close()
    }
    await Promise.all(this.#closing)
  }

  /** Of layers the largest one that comes. */
  #choosePicture(): void {
    const { layers, video } = this.#feed
    const feed =
      layers === undefined ? this.#feed : (layers.list[0]?.feed ?? this.#picture?.feed ?? layers.all[0]?.feed)
    if (feed === undefined || video === undefined || feed === this.#picture?.feed) return
    this.#picture?.input?.close()
    const { format } = feed.raw.video
    const options = {
      segmenter: this.#segmenter,
      now: this.#parts.now,
      isMuted: () => feed.videoMuted,
      failed: (error: unknown) => this.#failed(error),
    }
    if (this.#picture !== undefined) this.#segmenter.endPicture()
    this.#picture = { feed, input: format && TrackInput.picture(feed.raw.video, format, options) }
    feed.requestKeyFrame()
  }

  #open({ at, senderAt, picture, sound }: SegmentStartFacts): SegmentTarget | undefined {
    const { disk, emit, now, wall } = this.#parts
    if (this.#isOver || disk.trouble !== undefined) return undefined
    const { userName, topic, device, ...stream } = this.#facts()
    const container = picture?.codec === 'vp8' ? 'webm' : 'mp4'
    const carried = container === 'mp4' || sound?.codec === 'opus' ? sound : undefined
    const wallOffset = wall() - now()
    let startedAt = Math.max(0, Math.round(at + wallOffset))
    // A clock that was set back comes to the same moment again.
    while (disk.has(segmentPath(stream, startedAt, container))) startedAt += 1
    const start: SegmentStart = {
      ...stream,
      file: segmentPath(stream, startedAt, container),
      container,
      userName,
      topic,
      device,
      startedAt,
      senderStartedAt: senderAt === null ? null : Math.max(0, senderAt),
      videoCodec: picture?.codecString ?? '',
      audioCodec: carried?.codecString ?? '',
      width: picture?.width ?? 0,
      height: picture?.height ?? 0,
    }
    const file = new SegmentFile(disk.create(start.file), {
      container,
      picture,
      sound: carried,
      comment: JSON.stringify(start),
    })
    this.#openFile = { file, start, wallOffset }
    this.#gapSince = undefined
    this.#gapReason = undefined
    emit({ type: 'segmentBegan', segment: start })
    return file
  }

  #close(end: SegmentEnd): void {
    const open = this.#openFile
    this.#openFile = undefined
    if (open === undefined) return
    this.#gapSince = open.start.startedAt + open.file.endMs
    const work = this.#complete(open, end).finally(() => this.#closing.delete(work))
    this.#closing.add(work)
  }

  async #complete({ file, start }: OpenFile, end: SegmentEnd): Promise<void> {
    const { bytes, durationMs, trouble } = await file.end()
    if (file.failure !== undefined) this.#failed(file.failure)
    const segment: Segment = { ...start, endedAt: start.startedAt + durationMs, bytes, end: trouble ?? end }
    this.#parts.emit({ type: 'segmentEnded', segment })
  }

  #noteWallClock(now: number): void {
    const open = this.#openFile
    if (open === undefined) return
    if (Math.abs(this.#parts.wall() - now - open.wallOffset) > clockStepMs) this.#segmenter.cut('clock')
  }

  #noteGap(now: number): void {
    const { wall, emit } = this.#parts
    const at = wall()
    this.#gapSince ??= at
    if (at - this.#gapSince < gapAfterMs) return
    const reason = this.#whyNothing(now)
    if (reason === this.#gapReason) return
    const { roomId, userId, source, quality } = this.#facts()
    const from = this.#gapReason === undefined ? this.#gapSince : at
    this.#gapReason = reason
    emit({ type: 'recordingGap', gap: { roomId, userId, source, quality, from, to: null, reason } })
  }

  #whyNothing(now: number): GapReason {
    const { trouble } = this.#parts.disk
    if (trouble !== undefined) return trouble
    const isSilent = now - this.#segmenter.receivedAt > gapAfterMs
    const nothingTaken = this.#picture?.input === undefined && this.#sound === undefined
    if (nothingTaken) return 'codec'
    if (isSilent) return 'silent'
    return this.#segmenter.lacksKey ? 'noKeyFrame' : 'silent'
  }

  #failed(error: unknown): void {
    const { roomId, userId } = this.#facts()
    this.#parts.log.error('recordings: a stream could not be recorded', `${userId} in ${roomId}: ${wholeText(error)}`)
  }
}
