import { h264Content, h265Content, keyFrame, type PacketContent, sequenceParameters } from '../rtp/key-frame.ts'
import { parameterSetsOf } from '../rtp/nal-units.ts'
import { vp8Content, vp8PayloadAt, vp8PictureSize } from '../rtp/vp8.ts'
import { h264Parameters, h264PictureSize } from '../rtsp/resolution.ts'
import type { VideoFormat } from './feed-format.ts'

const contentReaders: Readonly<Record<VideoFormat['codec'], (packet: Buffer) => PacketContent>> = {
  H264: h264Content,
  H265: h265Content,
  VP8: vp8Content,
}

/** Tracks the pictures of a stream that a decoder can begin with, and reads facts about the stream from them. */
export class EntryPoints {
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
