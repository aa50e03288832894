import type { Content } from '../rtp/key-frame.ts'
import { sequenceOf, type SharedPacket, setMarker, timestampOf } from '../rtp/packet.ts'
import { withSendTime } from '../rtp/send-time.ts'
import { FanOut, type Sink } from './fan-out.ts'
import type { AudioFormat, FeedCounts, VideoFormat } from './feed-format.ts'
import { Playback } from './feed-playback.ts'
import { FeedVideo } from './feed-video.ts'
import { KeptVideo } from './kept-video.ts'
import { RawTap } from './raw-tap.ts'
import { SenderClock, StreamClock } from './stream-clock.ts'
import { withoutExtension } from '../rtp/header-extension.ts'
import { Renumbering } from '../rtp/renumber.ts'

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
  /** The feed, if it is there; undefined: it has to be acquired. */
  readonly feed: Feed | undefined
  /**
   * Takes a share in it; undefined when it is not available.
   * @param codec the only one that will do; undefined: every one
   * @param lost called once when it ends by itself
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
  /** Feeds of its picture in several sizes, in the place of its own; left out for a single size. */
  layers?: FeedLayers
  /** Clock of the sender; left out: a clock of its own. */
  sender?: SenderClock
}

/** One source fanned out to everybody who watches it: one numbering, one cached GOP, no copy per sink. */
export class Feed {
  readonly picture: FeedVideo
  readonly sound: FeedAudio
  readonly playback = new Playback()
  /** Feeds that carry the picture in several sizes; undefined where this feed carries it itself. */
  readonly layers: FeedLayers | undefined
  readonly requestKeyFrame: () => void
  /** Its tracks as the source sends them; of layers, each has its own picture. */
  readonly raw = { video: new RawTap(), audio: new RawTap() }
  readonly kept: KeptVideo
  readonly #sinks = new FanOut(
    () => this.kept.forgetSent(),
    () => this.requestKeyFrame(),
  )
  readonly #takes = (packet: Buffer): void => this.picture.take(packet)
  #videoMuted = false
  #over = false

  constructor(options: FeedOptions) {
    const sender = options.sender ?? new SenderClock()
    this.picture = new FeedVideo(options.video, sender, (packet, content) => this.#sendVideo(packet, content))
    this.sound = new FeedAudio(options.audio, sender)
    this.layers = options.layers
    this.requestKeyFrame = options.requestKeyFrame
    this.kept = new KeptVideo(options.cached)
  }

  get video(): VideoFormat | undefined {
    return this.picture.format
  }

  get audio(): AudioFormat | undefined {
    return this.sound.format
  }

  /** Counts of all layers together; pictures are those of the layer that has most of them. */
  get counts(): Readonly<FeedCounts> {
    const { picture, sound } = this
    const own = {
      videoBytes: picture.bytes,
      audioBytes: sound.bytes,
      frames: picture.frames,
      keyFrames: picture.entry.keyFrames,
      lastKeyFrameAt: picture.entry.lastKeyFrameAt,
      lastPacketAt: Math.max(picture.lastPacketAt, sound.lastPacketAt),
      dropped: this.#sinks.dropped,
    }
    return this.layers === undefined ? own : this.layers.counted(own)
  }

  /** A host has muted the picture: packets are taken and not passed on. */
  get videoMuted(): boolean {
    return this.#videoMuted
  }

  set videoMuted(muted: boolean) {
    this.#videoMuted = muted
    for (const { feed } of this.layers?.all ?? []) feed.videoMuted = muted
  }

  /** Number of viewers. */
  get watchers(): number {
    return this.#sinks.size
  }

  get over(): boolean {
    return this.#over
  }

  /** The packets since the last key frame, in order; empty when it keeps none. */
  get gop(): readonly SharedPacket[] {
    return this.kept.gop
  }

  /** Finds a packet that was sent, by its number, with room for its send time; nobody may change it. Undefined when it is too old, or never came. */
  sentVideo(sequence: number): SharedPacket | undefined {
    return this.kept.find(sequence)
  }

  /**
   * Starts the conversion for a viewer. Returns what to call once the viewer leaves.
   * @param sound the viewer wants sound: it is converted only for those who do
   * @throws Problem transcoders when every transcoder is in use
   */
  prepare(sound = true): () => void {
    const { conversion } = this.playback
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

  /**
   * Takes a packet of the source, which is the feed's from now on.
   * @param level that it carries, in -dBov; -1: none
   */
  pushAudio(packet: Buffer, level = -1): void {
    const sent = this.sound.take(packet, level)
    if (sent !== undefined) this.#sinks.audio(sent)
  }

  /** Continues with another stream of the source, whose numbers have nothing to do with those before. */
  restart(kind: 'video' | 'audio'): void {
    if (kind === 'audio') return this.sound.restart()
    this.picture.restart()
    this.requestKeyFrame()
  }

  /** Ties the timestamps of sound or picture to the source's clock. */
  clock(kind: 'video' | 'audio'): StreamClock {
    return kind === 'video' ? this.picture.clock : this.sound.clock
  }

  /**
   * Continues with pictures that another source makes of the same camera, e.g. a decoder: their numbers and times have nothing to do with those before, and no
   * viewer may begin with the pictures so far.
   */
  changeSource(): void {
    this.#sinks.inOrder(() => {
      this.kept.forgetGop()
      this.picture.entry.timestamp = -1
      this.picture.restart()
    })
  }

  /** Ends the feed, and notifies every sink once. */
  end(): void {
    if (this.#over) return
    this.#over = true
    this.#sinks.end()
  }

  #sendVideo(packet: Buffer, content: Content): void {
    if (!this.kept.cached && this.#sinks.size === 0) return
    const kept = withSendTime(packet)
    this.kept.add(kept, content)
    if (this.#videoMuted || this.#sinks.size === 0) return
    this.kept.addSent(kept)
    this.#sinks.video(kept, sequenceOf(kept))
  }
}

/** Audio of a feed: counted, timed, muted by hosts, and numbered without gaps. */
class FeedAudio {
  /** undefined: the source has no sound. */
  readonly format: AudioFormat | undefined
  readonly clock: StreamClock
  /** A host has muted it: packets are taken and not passed on. */
  muted = false
  /** Decides by the level of a packet, in -dBov, whether it is passed on; -1: it carries none. */
  passes: (level: number) => boolean = () => true
  readonly #numbers = new Renumbering()
  bytes = 0
  /** Arrival of the last packet, milliseconds since the epoch; 0 before the first. */
  lastPacketAt = 0

  constructor(format: AudioFormat | undefined, sender: SenderClock) {
    this.format = format
    this.clock = new StreamClock(format?.clockRate ?? 8_000, sender)
  }

  /**
   * Takes a packet of the source.
   * @param level that it carries, in -dBov; -1: none
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
    // Sound after silence (RFC 3551, section 4.1).
    if (begins) setMarker(plain)
    return plain
  }

  /** Joins a new stream of the source, or what follows a pause, to the numbers so far. */
  restart(): void {
    this.#numbers.pause()
  }
}
