import {
  AppendOnlyStreamTarget,
  EncodedAudioPacketSource,
  EncodedPacket,
  EncodedVideoPacketSource,
  Mp4OutputFormat,
  Output,
  WebMOutputFormat,
} from 'mediabunny'
import { segmentPath, withPath } from '../../../shared/recordings/segment-path.ts'
import type {
  RecordedStream as StreamName,
  EndedFacts,
  RecorderEvent,
  SegmentEnd,
  SegmentFacts,
} from '../../../shared/recordings/segment.ts'
import type { Playback } from '../feeds/feed.ts'
import { type MediaLog, wholeText } from '../base/media-log.ts'
import type { DiskFile, DiskTrouble } from './disk-file.ts'
import type { SegmentStartFacts, SegmentTarget } from './open-segment.ts'
import type { RecordingDisk } from './recording-disk.ts'
import type { YieldingScheduler } from './yielding-scheduler.ts'
import type { SegmentOpener } from './segmenter.ts'
import type { PictureFormat, SoundFormat } from './track-format.ts'

/** Step of the system clock above which a new segment begins, in milliseconds. */
const clockStepMs = 500

/** Facts about a stream that are stored with its segments. */
export interface StreamFacts extends StreamName {
  userName: string
  topic: string
  device: boolean
}

/** Part of ControllerEnd that the recorder uses. */
export interface RecorderReports {
  notify(method: 'recorder', params: { event: RecorderEvent }): void
}

export interface RecordingDependencies {
  disk: RecordingDisk
  /** Runs the writing of fragments in separate event loop turns. */
  scheduler: YieldingScheduler
  controller: RecorderReports
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
  /** End of the last segment, in milliseconds since the epoch; undefined: no segment yet. */
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
    const { disk, scheduler, controller, now, wall } = this.#dependencies
    if (this.#isOver || disk.trouble !== undefined) return undefined
    const { userName, topic, device, ...stream } = this.#facts()
    const container = picture?.codec === 'vp8' ? 'webm' : 'mp4'
    // A WebM file supports no other recorded sound codec.
    const supported = container === 'mp4' || sound?.codec === 'opus' ? sound : undefined
    const wallOffset = wall() - now()
    let startedAt = Math.max(0, Math.round(at + wallOffset))
    // A recording that starts again within a group of pictures starts with the same picture. After the clock was set
    // back, the same time may occur again, too.
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
    controller.notify('recorder', { event: { type: 'segmentBegan', segment: start } })
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
    const { controller, log } = this.#dependencies
    const { bytes, durationMs, trouble } = await file.end()
    if (file.failure !== undefined) log.error('recordings: a file could not be made', wholeText(file.failure))
    const segment: EndedFacts = { ...start, endedAt: start.startedAt + durationMs, bytes, end: trouble ?? end }
    controller.notify('recorder', { event: { type: 'segmentEnded', segment } })
  }
}

/** Content of a file that is known when it begins. */
interface SegmentContent {
  container: 'mp4' | 'webm'
  picture: PictureFormat | undefined
  sound: SoundFormat | undefined
  /** Text stored in the file's metadata. */
  comment: string
}

/** Result of a segment's file. */
interface SegmentOutcome {
  /** Size of the file; 0: there is no file. */
  bytes: number
  /** Duration of the media in milliseconds. */
  durationMs: number
  trouble: DiskTrouble | undefined
}

/**
 * Minimum duration of a fragment, in seconds. Each fragment costs a few hundred bytes. A power cut destroys at most
 * this duration plus a group of pictures.
 */
const fragmentSeconds = 1
/** RTP clock of pictures, in Hz. The file keeps their exact times. */
const pictureRate = 90_000

/**
 * File of one segment. Takes frames and appends whole fragments to the disk in separate event loop turns. Callers never
 * wait for the disk.
 */
class SegmentFile {
  readonly #disk: DiskFile
  readonly #output: Output
  readonly #tracks: { picture: EncodedVideoPacketSource | undefined; sound: EncodedAudioPacketSource | undefined }
  readonly #frames: FrameScheduler
  /** Decoder configurations, passed with the first frame of each track. */
  readonly #meta: { picture: EncodedVideoChunkMetadata | undefined; sound: EncodedAudioChunkMetadata | undefined }
  /** Number of bytes after each append, and end of the media in these bytes, in milliseconds. */
  readonly #covered: { bytes: number; ms: number }[] = []
  readonly #started: Promise<void>
  /** Media time of the last frame that may begin a fragment. */
  #fragmentMs = 0
  #endMs = 0
  #failure: unknown

  constructor(disk: DiskFile, content: SegmentContent, scheduler: YieldingScheduler) {
    this.#disk = disk
    this.#frames = new FrameScheduler(scheduler, this.#failed)
    const { container, picture, sound, comment } = content
    const format =
      container === 'mp4'
        ? new Mp4OutputFormat({ fastStart: 'fragmented', minimumFragmentDuration: fragmentSeconds })
        : new WebMOutputFormat({ appendOnly: true, minimumClusterDuration: fragmentSeconds })
    const writable = new WritableStream<Uint8Array>({ write: (bytes) => this.#append(bytes) })
    this.#output = new Output({ format, target: new AppendOnlyStreamTarget(writable) })
    this.#tracks = {
      picture: picture && new EncodedVideoPacketSource(picture.codec),
      sound: sound && new EncodedAudioPacketSource(sound.codec),
    }
    if (this.#tracks.picture !== undefined) this.#output.addVideoTrack(this.#tracks.picture, { frameRate: pictureRate })
    if (this.#tracks.sound !== undefined) this.#output.addAudioTrack(this.#tracks.sound)
    this.#meta = { picture: picture && pictureMeta(picture), sound: sound && soundMeta(sound) }
    this.#output.setMetadataTags({ comment })
    this.#started = this.#output.start()
    this.#started.catch(this.#failed)
  }

  /** Reason why the file accepts no frames; undefined: it accepts frames. */
  get trouble(): DiskTrouble | undefined {
    return this.#failure === undefined ? this.#disk.trouble : 'failed'
  }

  /** Unexpected error of the format writer; undefined: none. */
  get failure(): unknown {
    return this.#failure
  }

  /** Duration of the media passed to this file, in milliseconds. */
  get endMs(): number {
    return this.#endMs
  }

  /** Takes a picture, in decoding order. @param ms, durationMs in milliseconds from the beginning of the segment */
  addPicture(data: Buffer, ms: number, durationMs: number, key: boolean): void {
    const { picture } = this.#tracks
    if (picture === undefined || this.trouble !== undefined) return
    const packet = new EncodedPacket(data, key ? 'key' : 'delta', ms / 1_000, durationMs / 1_000)
    const meta = this.#meta.picture
    this.#meta.picture = undefined
    this.#endMs = Math.max(this.#endMs, ms + durationMs)
    this.#frames.add(key, () => {
      if (key) this.#fragmentMs = ms
      return picture.add(packet, meta)
    })
  }

  /** Takes a piece of sound. @param ms, durationMs as in `addPicture` */
  addSound(data: Buffer, ms: number, durationMs: number): void {
    const { sound, picture } = this.#tracks
    if (sound === undefined || this.trouble !== undefined) return
    const packet = new EncodedPacket(data, 'key', ms / 1_000, durationMs / 1_000)
    const meta = this.#meta.sound
    this.#meta.sound = undefined
    this.#endMs = Math.max(this.#endMs, ms + durationMs)
    this.#frames.add(false, () => {
      if (picture === undefined) this.#fragmentMs = ms
      return sound.add(packet, meta)
    })
  }

  /** Completes the file. Never rejects. */
  async end(): Promise<SegmentOutcome> {
    // A failure is recorded by the handler from the constructor.
    await this.#started.catch(() => {})
    await this.#frames.end()
    try {
      if (this.trouble === undefined) {
        this.#fragmentMs = this.#endMs
        await this.#output.finalize()
      } else await this.#output.cancel()
    } catch (error) {
      this.#failure ??= error
    }
    const { bytes, trouble } = await this.#disk.close()
    const covered = this.#covered.findLast((each) => each.bytes <= bytes)
    return { bytes, durationMs: covered?.ms ?? 0, trouble: this.trouble ?? trouble }
  }

  readonly #failed = (error: unknown): void => {
    this.#failure ??= error
  }

  #append(bytes: Uint8Array): void {
    const before = this.#covered.at(-1)?.bytes ?? 0
    this.#covered.push({ bytes: before + bytes.length, ms: this.#fragmentMs })
    while ((this.#covered[1]?.bytes ?? Infinity) <= this.#disk.whole) this.#covered.shift()
    this.#disk.append(bytes)
  }
}

function pictureMeta({ codecString, width, height, description }: PictureFormat): EncodedVideoChunkMetadata {
  return {
    decoderConfig: { codec: codecString, codedWidth: width, codedHeight: height, ...(description && { description }) },
  }
}

function soundMeta({ codecString, sampleRate, channels, description }: SoundFormat): EncodedAudioChunkMetadata {
  return {
    decoderConfig: { codec: codecString, sampleRate, numberOfChannels: channels, ...(description && { description }) },
  }
}

/** Passes one frame to the format writer. */
type Give = () => Promise<void>

/**
 * Queue of one file's frames on their way to the format writer. A key frame may end a fragment, which takes time.
 * Therefore, a key frame and all frames after it wait for a separate event loop turn.
 */
export class FrameScheduler {
  readonly #scheduler: YieldingScheduler
  readonly #failed: (error: unknown) => void
  #waiting: { give: Give; key: boolean }[] = []

  constructor(scheduler: YieldingScheduler, failed: (error: unknown) => void) {
    this.#scheduler = scheduler
    this.#failed = failed
  }

  add(key: boolean, give: Give): void {
    if (!key && this.#waiting.length === 0) return this.#give(give)
    this.#waiting.push({ give, key })
    if (this.#waiting.length === 1) this.#scheduler.add(this.#giveGroup)
  }

  /** Passes all waiting frames in a separate turn, because the caller's next step takes time as well. */
  async end(): Promise<void> {
    await this.#scheduler.next()
    this.#scheduler.remove(this.#giveGroup)
    for (const { give } of this.#waiting) this.#give(give)
    this.#waiting = []
  }

  /** Passes a key frame and the frames after it, up to the next key frame. */
  readonly #giveGroup = (): void => {
    const next = this.#waiting.findIndex(({ key }, index) => index > 0 && key)
    for (const { give } of this.#waiting.splice(0, next < 0 ? Infinity : next)) this.#give(give)
    if (this.#waiting.length > 0) this.#scheduler.add(this.#giveGroup)
  }

  #give(give: Give): void {
    try {
      give().catch(this.#failed)
    } catch (error) {
      this.#failed(error)
    }
  }
}
