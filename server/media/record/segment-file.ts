import {
  AppendOnlyStreamTarget,
  EncodedAudioPacketSource,
  EncodedPacket,
  EncodedVideoPacketSource,
  Mp4OutputFormat,
  Output,
  WebMOutputFormat,
} from 'mediabunny'
import type { DiskFile, DiskTrouble } from './disk-file.ts'
import type { YieldingScheduler } from './yielding-scheduler.ts'
import type { PictureFormat, SoundFormat } from './track-format.ts'

/** Content of a file that is known when it begins. */
export interface SegmentContent {
  container: 'mp4' | 'webm'
  picture: PictureFormat | undefined
  sound: SoundFormat | undefined
  /** Text stored in the file's metadata. */
  comment: string
}

/** Result of a segment's file. */
export interface SegmentOutcome {
  /** 0: there is no file. */
  bytes: number
  /** Duration of the media in milliseconds. */
  durationMs: number
  trouble: DiskTrouble | undefined
}

/**
 * Minimum duration of a fragment, in seconds. Each fragment costs some hundred bytes; a power cut destroys at most this
 * plus a group of pictures.
 */
const fragmentSeconds = 1
/** RTP clock of pictures, in Hz. The file keeps their exact times. */
const pictureRate = 90_000

/**
 * File of one segment. Takes frames and appends whole fragments to the disk in separate event loop turns. Callers never
 * wait for it.
 */
export class SegmentFile {
  readonly #disk: DiskFile
  readonly #output: Output
  readonly #tracks: { picture: EncodedVideoPacketSource | undefined; sound: EncodedAudioPacketSource | undefined }
  readonly #frames: FrameScheduler
  /** Decoder configurations, passed with the first frame of each track. */
  readonly #meta: { picture: EncodedVideoChunkMetadata | undefined; sound: EncodedAudioChunkMetadata | undefined }
  /** End of the media in the appended bytes, by number of bytes. */
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

  /** Reason why it accepts no more frames; undefined: it does. */
  get trouble(): DiskTrouble | undefined {
    return this.#failure === undefined ? this.#disk.trouble : 'failed'
  }

  /** Unexpected error of the format writer; undefined: none. */
  get failure(): unknown {
    return this.#failure
  }

  /** Duration of the media passed to it, in milliseconds. */
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
 * Queue of one file's frames on their way to the format writer. A key frame may end a fragment, which takes time. So it
 * waits for a separate event loop turn, together with all frames after it.
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
