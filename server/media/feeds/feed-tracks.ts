import {
  h264Content,
  h265Content,
  keyFrame,
  noContent,
  type PacketContent,
  sequenceParameters,
} from '../rtp/key-frame.ts'
import { parameterSetsOf } from '../rtp/nal-units.ts'
import { hasMarker, isPadding, setMarker, timestampOf, withoutExtension } from '../rtp/packet.ts'
import { Renumbering } from '../rtp/renumber.ts'
import { vp8Content, vp8PayloadAt, vp8PictureSize } from '../rtp/vp8.ts'
import { h264Parameters, h264PictureSize } from '../rtsp/resolution.ts'
import { type SenderClock, StreamClock } from './stream-clock.ts'

/** Picture and sound of a feed: formats, counts, entry points and numbering. */

export interface VideoFormat {
  codec: 'H264' | 'H265' | 'VP8'
  /** H.264 profile-level-id, six hexadecimal digits; empty when unknown. */
  profileLevelId: string
  /** H.264 sprop-parameter-sets of the SDP; empty when there are none. */
  parameterSets: string
}

export interface AudioFormat {
  codec: 'PCMU' | 'PCMA' | 'G722' | 'OPUS'
  /** Clock rate of the timestamps, in Hz. */
  clockRate: number
}

/** Traffic of a feed since it began. */
export interface FeedCounts {
  videoBytes: number
  audioBytes: number
  frames: number
  keyFrames: number
  /** Milliseconds since the epoch; 0 if there was none. */
  lastKeyFrameAt: number
  lastPacketAt: number
  /** Packets dropped for all viewers because the queue was full. */
  dropped: number
}

/** Newest picture of a feed that can be decoded by itself. */
export interface KeyPicture {
  /** H.264 Annex B, with parameter sets. */
  frame: Buffer
  /** Width and height, in pixels. */
  width: number
  height: number
  /** Time of arrival, in milliseconds since the epoch. */
  at: number
}

/** Video of a feed between source and sinks: counts packets, tracks time and numbers packets without gaps. */
export class FeedVideo {
  /** Format of the video; undefined: the source has no video. */
  readonly format: VideoFormat | undefined
  readonly clock: StreamClock
  readonly entry: EntryPoints
  readonly #numbers = new Renumbering()
  readonly #rate = new Rate()
  readonly #passOn: (packet: Buffer, content: PacketContent) => void
  bytes = 0
  /** Number of complete pictures. */
  frames = 0
  /** Arrival of the last packet, in milliseconds since the epoch; 0 before the first. */
  lastPacketAt = 0
  /** Number of restarts of the source's stream. */
  restarts = 0

  /**
   * @param passOn takes each packet after its number in the feed was written into it; the source may change the packet
   *   after the call
   */
  constructor(
    format: VideoFormat | undefined,
    sender: SenderClock,
    passOn: (packet: Buffer, content: PacketContent) => void,
  ) {
    this.format = format
    this.clock = new StreamClock(90_000, sender)
    this.entry = new EntryPoints(format)
    this.#passOn = passOn
  }

  /** Highest bitrate of the last seconds, because key frames are rare; 0 in the first second. */
  get bitrate(): number {
    return this.#rate.peak
  }

  /** Takes a packet of the source, and writes its number in the feed into it. */
  take(packet: Buffer): void {
    if (isPadding(packet) && this.#numbers.leaveOut(packet)) return
    const now = Date.now()
    this.bytes += packet.length
    this.lastPacketAt = now
    this.#rate.add(packet.length, now)
    const timestamp = timestampOf(packet)
    if (hasMarker(packet)) this.frames += 1
    this.clock.received(timestamp, now)
    const content = this.entry.contentOf(packet)
    if (content !== noContent) this.entry.note(packet, content, timestamp, now)
    if (this.#numbers.apply(packet)) this.#passOn(packet, content)
  }

  /** Continues the numbering with a new stream of the source. */
  restart(): void {
    this.#numbers.pause()
    this.restarts += 1
  }
}

/** Audio of a feed: counts packets, tracks time, applies mutes and numbers packets without gaps. */
export class FeedAudio {
  /** Format of the sound; undefined: the source has no sound. */
  readonly format: AudioFormat | undefined
  readonly clock: StreamClock
  /** Whether a host has muted the sound. Packets are then counted but not sent. */
  muted = false
  /** Returns whether a packet with this level, in -dBov, is sent; -1: no level. */
  passes: (level: number) => boolean = () => true
  readonly #numbers = new Renumbering()
  bytes = 0
  /** Arrival of the last packet, in milliseconds since the epoch; 0 before the first. */
  lastPacketAt = 0

  constructor(format: AudioFormat | undefined, sender: SenderClock) {
    this.format = format
    this.clock = new StreamClock(format?.clockRate ?? 8_000, sender)
  }

  /**
   * Takes a packet of the source.
   * @param level level in the packet, in -dBov; -1: none
   * @returns the packet to send, with its number in the feed; undefined: none
   */
  take(packet: Buffer, level: number): Buffer | undefined {
    const now = Date.now()
    this.bytes += packet.length
    this.lastPacketAt = now
    this.clock.received(timestampOf(packet), now)
    if (this.muted || !this.passes(level)) {
      this.restart()
      return undefined
    }
    const begins = this.#numbers.paused
    const plain = withoutExtension(packet)
    if (!this.#numbers.apply(plain)) return undefined
    // Marks the first packet after silence (RFC 3551, section 4.1).
    if (begins) setMarker(plain)
    return plain
  }

  /** Continues the numbering after a restart of the source or a pause. */
  restart(): void {
    this.#numbers.pause()
  }
}

const contentReaders: Readonly<Record<VideoFormat['codec'], (packet: Buffer) => PacketContent>> = {
  H264: h264Content,
  H265: h265Content,
  VP8: vp8Content,
}

/** Tracks the pictures of a stream that a decoder can begin with, and reads facts about the stream from them. */
class EntryPoints {
  readonly contentOf: (packet: Buffer) => PacketContent
  readonly #codec: VideoFormat['codec'] | undefined
  /** Timestamp of the last entry point; -1 before the first. */
  timestamp = -1
  #keyTimestamp = -1
  /** Height of the pictures, in pixels; 0 while unknown. */
  height = 0
  keyFrames = 0
  /** Arrival of the last key frame, in milliseconds since the epoch; 0 before the first. */
  lastKeyFrameAt = 0

  constructor(format: VideoFormat | undefined) {
    this.#codec = format?.codec
    this.contentOf = contentReaders[format?.codec ?? 'H264']
    const described = format?.codec === 'H264' ? parameterSetsOf(format.parameterSets) : []
    for (const set of described) this.height = h264Parameters(set)?.height ?? this.height
  }

  /**
   * Records a packet of an entry point: a picture with which a decoder can start.
   * @param content content of the packet; not `noContent`
   * @param now milliseconds since the epoch
   */
  note(packet: Buffer, content: PacketContent, timestamp: number, now: number): void {
    this.timestamp = timestamp
    this.#noteHeight(packet, content)
    if ((content & keyFrame) === 0) return
    this.lastKeyFrameAt = now
    // A key frame may have several packets that begin a slice. By its timestamp, the key frame is counted once.
    if (this.#keyTimestamp !== timestamp) this.keyFrames += 1
    this.#keyTimestamp = timestamp
  }

  #noteHeight(packet: Buffer, content: PacketContent): void {
    if (this.#codec === 'VP8') this.height = vp8PictureSize(packet, vp8PayloadAt(packet))?.height ?? this.height
    else if (this.#codec === 'H264' && (content & sequenceParameters) !== 0) {
      this.height = h264PictureSize(packet)?.height ?? this.height
    }
  }
}

/** Length of a window in milliseconds, and number of windows. */
const windowMs = 1_000
const windows = 3

/** Measures the bitrate of a stream, in bits per second. */
class Rate {
  readonly #seconds: number[] = Array.from({ length: windows }, () => 0)
  #next = 0
  #bytes = 0
  #since = -1
  /** Highest rate of the last three windows; 0 during the first window. */
  peak = 0

  /** @param now milliseconds since the epoch */
  add(bytes: number, now: number): void {
    const elapsed = now - this.#since
    if (elapsed >= windowMs) this.#turn(elapsed, now)
    this.#bytes += bytes
  }

  #turn(elapsed: number, now: number): void {
    if (this.#since >= 0) {
      this.#seconds[this.#next] = (this.#bytes * 8_000) / elapsed
      this.#next = (this.#next + 1) % windows
      this.peak = Math.max(...this.#seconds)
    }
    this.#bytes = 0
    this.#since = now
  }
}
