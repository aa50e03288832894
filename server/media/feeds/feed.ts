import type { Shortcoming } from '../../../shared/media/transcoding.ts'
import {
  type Content,
  h264Content,
  h265Content,
  keyFrame,
  nothing,
  parameterSetPacket,
  parameterSetsOf,
  sequenceParameters,
  vp8Content,
  vp8PayloadAt,
} from '../rtp/key-frame.ts'
import { h264PictureSize, vp8PictureSize } from '../rtp/picture-size.ts'
import { Rate } from '../rtp/rate.ts'
import { withoutExtension } from '../rtp/header-extension.ts'
import { hasMarker, isPadding, sequenceOf, setMarker, timestampOf } from '../rtp/packet.ts'
import { Renumbering } from '../rtp/renumber.ts'
import { withSendTime } from '../rtp/send-time.ts'
import type { ClockPoint } from '../rtp/rtcp.ts'
import type { ConversionState } from '../../../shared/media/transcoding.ts'
import { h264Parameters } from '../rtsp/resolution.ts'
import type { AudioFormat, FeedCounts, KeyPicture, VideoFormat } from './feed-format.ts'
import { FanOut, type Sink } from './fan-out.ts'
import { GopCache } from './gop-cache.ts'
import { PacketHistory } from './packet-history.ts'
import { SenderClock, StreamClock } from './stream-clock.ts'

/** A share in a feed. */
export interface FeedLease {
  feed: Feed
  /** Idempotent. */
  release(): void
}

/** One of the streams that carry the same picture in different sizes. */
export interface PictureStream {
  /** Height of its pictures in pixels; 0 while it is not known. */
  readonly height: number
  /** Bits a second of late; 0 while it is not known. */
  readonly bitrate: number
  /** Where it is at hand; undefined: it has to be acquired. */
  readonly feed: Feed | undefined
  /**
   * A share in it; undefined when it cannot be had.
   * @param codec the only one that will do; undefined: every one
   * @param lost told once when it ends by itself
   */
  acquire(
    codec: VideoFormat['codec'] | undefined,
    signal: AbortSignal,
    lost: () => void,
  ): Promise<FeedLease | undefined>
}

/** The streams of one source's picture. */
export interface PictureStreams {
  /** Those that can be had now, the largest first. */
  readonly list: readonly PictureStream[]
  /** Tells when other streams can be had than before, or in another order. Returns what ends that. */
  onChange(listener: () => void): () => void
}

/** Layers of a picture: each a feed of its own. */
export interface FeedLayers extends PictureStreams {
  readonly all: readonly { readonly feed: Feed }[]
  /** Notes that a picture of a layer has come. @param now milliseconds since the epoch */
  pictureCame(feed: Feed, now: number): void
  /** Sums the layers' counts with those of the source's sound. */
  counted(sound: FeedCounts): FeedCounts
}

/** How a feed is made. */
export interface FeedOptions {
  video: VideoFormat | undefined
  audio: AudioFormat | undefined
  /** Keep the packets since the last key frame, for sources that cannot be asked for one. */
  cached: boolean
  /** Asks the source for a key frame. */
  requestKeyFrame: () => void
  /** Carry its picture in several sizes, instead of itself; left out where it does. */
  layers?: FeedLayers
  /** Left out: one that nothing else follows. */
  sender?: SenderClock
}

/** What makes a feed playable that browsers would not show. */
export interface FeedConversion {
  /** What the source sends, e.g. `H.265`; empty while everything goes on as it is. */
  readonly from: string
  /** Pictures are made, and not only sound. */
  readonly pictures: boolean
  readonly state: ConversionState
  /** Why it failed last; empty when it did not. */
  readonly problem: string
  prepare(): () => void
  /** Its newest picture, small, where nobody watches; never rejects. undefined: the feed itself has what there is. */
  still(): Promise<KeyPicture | undefined> | undefined
}

const contentReaders: Readonly<Record<VideoFormat['codec'], (packet: Buffer) => Content>> = {
  H264: h264Content,
  H265: h265Content,
  VP8: vp8Content,
}

/** One source fanned out to everybody who watches it: one numbering, one cached GOP, no copy per sink. */
export class Feed {
  readonly video: VideoFormat | undefined
  readonly audio: AudioFormat | undefined
  readonly requestKeyFrame: () => void
  readonly #sinks = new FanOut(() => this.#history.clear())
  readonly #cache: GopCache | undefined
  /** Of what those who watch were sent; empty while nobody does. */
  readonly #history = new PacketHistory()
  readonly #contentOf: (packet: Buffer) => Content
  readonly #takes = (packet: Buffer): void => this.#takeVideo(packet)
  /** Those of the SDP, for a stream that lacks them. */
  readonly #parameterSets: readonly Buffer[]
  readonly #videoNumbers = new Renumbering()
  readonly #audioNumbers = new Renumbering()
  #parameterTimestamp = -1
  #keyTimestamp = -1
  readonly #videoClock: StreamClock
  readonly #audioClock: StreamClock
  readonly #videoRate = new Rate()
  #over = false
  /** Timestamp of the last picture that a late joiner can begin with; -1 when none came. */
  entryTimestamp = -1
  /** Height of its pictures, in pixels; 0 while it is not known. */
  height = 0
  /** A host has muted it: sound or picture is taken and not passed on. */
  audioMuted = false
  #videoMuted = false
  /** Whether a packet of sound is passed on, by the level that it tells in -dBov; -1: it tells none. */
  passes: (level: number) => boolean = () => true
  /** Pictures come in another order than they are shown in: browsers show few of them. */
  bFrames = false
  /** What makes it playable while somebody watches; undefined when nothing has to. */
  conversion: FeedConversion | undefined
  /** What of a camera does not reach every browser. */
  shortcomings: readonly Shortcoming[] = []
  readonly #counts: FeedCounts = {
    videoBytes: 0,
    audioBytes: 0,
    frames: 0,
    keyFrames: 0,
    lastKeyFrameAt: 0,
    lastPacketAt: 0,
  }
  /** Those that carry its picture in several sizes; undefined where it carries its picture itself. */
  readonly layers: FeedLayers | undefined

  constructor(options: FeedOptions) {
    this.video = options.video
    this.audio = options.audio
    this.requestKeyFrame = options.requestKeyFrame
    this.#cache = options.cached ? new GopCache() : undefined
    this.#contentOf = contentReaders[options.video?.codec ?? 'H264']
    this.#parameterSets = options.video?.codec === 'H264' ? parameterSetsOf(options.video.parameterSets) : []
    for (const set of this.#parameterSets) this.height = h264Parameters(set)?.height ?? this.height
    this.layers = options.layers
    const sender = options.sender ?? new SenderClock()
    this.#videoClock = new StreamClock(90_000, sender)
    this.#audioClock = new StreamClock(this.audio?.clockRate ?? 8_000, sender)
  }

  /** Of all its layers together; pictures are counted in the one that has most of them. */
  get counts(): Readonly<FeedCounts> {
    return this.layers === undefined ? this.#counts : this.layers.counted(this.#counts)
  }

  get videoMuted(): boolean {
    return this.#videoMuted
  }

  set videoMuted(muted: boolean) {
    this.#videoMuted = muted
    for (const { feed } of this.layers?.all ?? []) feed.videoMuted = muted
  }

  /** How many watch. */
  get watchers(): number {
    return this.#sinks.size
  }

  get over(): boolean {
    return this.#over
  }

  /** The packets since the last key frame, in order; empty when it keeps none. */
  get gop(): readonly Buffer[] {
    return this.#cache?.packets ?? []
  }

  /** What was sent of its video under a number, with room for its send time, for who missed it: not to be changed. Undefined when it is too old, or never came. */
  sentVideo(sequence: number): Buffer | undefined {
    // A viewer's first packets are of the GOP, and may be older than the history.
    return this.#history.find(sequence) ?? this.#cache?.find(sequence)
  }

  /**
   * Somebody is about to watch. Returns what is to be called once they do not any more.
   * @param sound they want to hear it, too: it is not made for who does not
   * @throws Problem transcoders when that cannot be now
   */
  prepare(sound = true): () => void {
    const { conversion } = this
    const soundOnly = conversion !== undefined && conversion.from !== '' && !conversion.pictures
    return conversion === undefined || (soundOnly && !sound) ? () => {} : conversion.prepare()
  }

  add(sink: Sink): void {
    if (this.#over) return sink.ended()
    this.#sinks.add(sink)
  }

  remove(sink: Sink): void {
    this.#sinks.remove(sink)
  }

  /** Takes a packet of the source, which is the feed's from now on. */
  pushVideo(packet: Buffer): void {
    this.#sinks.run(packet, this.#takes)
  }

  #takeVideo(packet: Buffer): void {
    if (isPadding(packet) && this.#videoNumbers.leaveOut(packet)) return
    const counts = this.#counts
    const now = Date.now()
    counts.videoBytes += packet.length
    counts.lastPacketAt = now
    this.#videoRate.add(packet.length, now)
    const timestamp = timestampOf(packet)
    if (hasMarker(packet)) counts.frames += 1
    this.#videoClock.received(timestamp, now)
    const content = this.#contentOf(packet)
    if (content !== nothing) this.#noteContent(packet, content, timestamp, now)
    if (!this.#videoNumbers.apply(packet)) return
    this.#sendVideo(packet, content)
  }

  /**
   * Takes a packet of the source, which is the feed's from now on.
   * @param level that it tells, in -dBov; -1: none
   */
  pushAudio(packet: Buffer, level = -1): void {
    const now = Date.now()
    this.#counts.audioBytes += packet.length
    this.#counts.lastPacketAt = now
    this.#audioClock.received(timestampOf(packet), now)
    if (this.audioMuted || !this.passes(level)) return this.#audioNumbers.pause()
    const begins = this.#audioNumbers.paused
    const plain = withoutExtension(packet)
    if (!this.#audioNumbers.apply(plain)) return
    // Sound after silence (RFC 3551, section 4.1).
    if (begins) setMarker(plain)
    this.#sinks.audio(plain)
  }

  /** The source goes on in another stream, whose numbers have nothing to do with those before. */
  beginAnew(kind: 'video' | 'audio'): void {
    if (kind === 'audio') return this.#audioNumbers.pause()
    this.#videoNumbers.pause()
    this.requestKeyFrame()
  }

  /** Notes a sender report of the source, which ties sound and picture together. */
  noteClock(kind: 'video' | 'audio', point: ClockPoint): void {
    this.#clockOf(kind).reported(point, Date.now())
  }

  /** The moment `now` on the source's clock, for a sender report; undefined before the first packet. */
  clock(kind: 'video' | 'audio', now: number): { ntp: number; timestamp: number } | undefined {
    return this.#clockOf(kind).at(now)
  }

  /** Ticks from the timestamps of its video to those that another feed's has of the same moments. */
  ticksTo(other: Feed, now: number): number {
    return this.#videoClock.ticksTo(other.#videoClock, now)
  }

  /** Bits a second of its video: the most of the last seconds, for a key frame comes only now and then. 0 in its first second. */
  get videoBitrate(): number {
    return this.#videoRate.most
  }

  /** What was sent is of another time than what will be: nobody begins with it. */
  forget(): void {
    this.#cache?.clear()
    this.entryTimestamp = -1
  }

  /** The source is over: every sink is told, once. */
  end(): void {
    if (this.#over) return
    this.#over = true
    this.#sinks.end()
  }

  #noteContent(packet: Buffer, content: Content, timestamp: number, now: number): void {
    if ((content & sequenceParameters) !== 0) this.#parameterTimestamp = timestamp
    this.entryTimestamp = timestamp
    this.#noteSize(packet, content)
    if ((content & keyFrame) === 0) return
    this.#counts.lastKeyFrameAt = now
    // A key frame has several packets that begin a slice of it.
    if (this.#keyTimestamp !== timestamp) this.#counts.keyFrames += 1
    this.#keyTimestamp = timestamp
    if (this.#parameterTimestamp !== timestamp) this.#putInParameters(packet, timestamp)
  }

  #clockOf(kind: 'video' | 'audio'): StreamClock {
    return kind === 'video' ? this.#videoClock : this.#audioClock
  }

  #noteSize(packet: Buffer, content: Content): void {
    const codec = this.video?.codec
    if (codec === 'VP8') this.height = vp8PictureSize(packet, vp8PayloadAt(packet))?.height ?? this.height
    else if (codec === 'H264' && (content & sequenceParameters) !== 0) {
      this.height = h264PictureSize(packet)?.height ?? this.height
    }
  }

  /** The stream lacks its parameter sets: those of the SDP go ahead of the key frame. */
  #putInParameters(key: Buffer, timestamp: number): void {
    this.#parameterTimestamp = timestamp
    if (this.#parameterSets.length === 0) return
    const packet = parameterSetPacket(this.#parameterSets, key)
    packet.writeUInt16BE(this.#videoNumbers.insert(key), 2)
    this.#sendVideo(packet, sequenceParameters | 1)
  }

  #sendVideo(packet: Buffer, content: Content): void {
    if (this.#cache === undefined && this.#sinks.size === 0) return
    const kept = withSendTime(packet)
    this.#cache?.add(kept, content)
    if (this.#videoMuted || this.#sinks.size === 0) return
    this.#history.add(kept)
    this.#sinks.video(kept, sequenceOf(kept))
  }
}
