import type { ConversionState, Shortcoming } from '../../../shared/media/transcoding.ts'
import type { PacketContent } from '../rtp/key-frame.ts'
import { sequenceOf, type SharedPacket, withSendTime } from '../rtp/packet.ts'
import { FanOut, type Sink } from './fan-out.ts'
import {
  type AudioFormat,
  FeedAudio,
  type FeedCounts,
  FeedVideo,
  type KeyPicture,
  type VideoFormat,
} from './feed-tracks.ts'
import { KeptVideo } from './kept-video.ts'
import { RawTap } from './raw-tap.ts'
import { SenderClock, type StreamClock } from './stream-clock.ts'

/** A share in a feed. */
export interface FeedLease {
  feed: Feed
  /** Releases the share. Idempotent. */
  release(): void
}

/** One of several streams with the same picture in different sizes. */
export interface PictureStream {
  /** Height of the pictures in pixels; 0 while unknown. */
  readonly height: number
  /** Recent bitrate in bits per second; 0 while unknown. */
  readonly bitrate: number
  /** Feed of the stream; undefined if the feed has to be acquired first. */
  readonly feed: Feed | undefined
  /**
   * Takes a share in the feed. Returns undefined if the feed is unavailable.
   * @param codec required codec; undefined: any
   * @param lost called once when the feed ends by itself
   */
  acquire(
    codec: VideoFormat['codec'] | undefined,
    signal: AbortSignal,
    lost: () => void,
  ): Promise<FeedLease | undefined>
}

/** Streams of one source with the same video in different sizes. */
export interface PictureStreams {
  /** Available streams, largest first. */
  readonly list: readonly PictureStream[]
  /** Calls the listener when the list or its order has changed. Returns the unsubscribe function. */
  onChange(listener: () => void): () => void
}

/** Layers of a picture, each with its own feed. */
export interface FeedLayers extends PictureStreams {
  readonly all: readonly { readonly feed: Feed }[]
  /** Records the arrival of a picture of a layer. @param now milliseconds since the epoch */
  pictureCame(feed: Feed, now: number): void
  /** Returns the sum of the layers' counts and the counts of the source's sound. */
  counted(sound: FeedCounts): FeedCounts
}

export interface FeedOptions {
  video: VideoFormat | undefined
  audio: AudioFormat | undefined
  /** Whether to keep the packets since the last key frame. True for sources that cannot send a key frame on request. */
  cached: boolean
  requestKeyFrame: () => void
  /** Feeds of the simulcast layers. Omitted: this feed contains the picture. */
  layers?: FeedLayers
  /** Clock of the sender. If omitted, the feed gets its own. */
  sender?: SenderClock
}

/** Distributes one source to all its viewers, with a single numbering, one cached GOP and no copy per sink. */
export class Feed {
  readonly picture: FeedVideo
  readonly sound: FeedAudio
  readonly playback = new Playback()
  /** Feeds of the simulcast layers; undefined: this feed contains the picture. */
  readonly layers: FeedLayers | undefined
  readonly requestKeyFrame: () => void
  /** Tracks as the source sends them. With layers, each layer's feed has its own picture track. */
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

  /**
   * Counts of all layers together. The numbers of frames and key frames are those of the layer with the most frames.
   */
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

  /** Whether a host has muted the picture. Packets are then counted but not sent. */
  get videoMuted(): boolean {
    return this.#videoMuted
  }

  set videoMuted(muted: boolean) {
    this.#videoMuted = muted
    for (const { feed } of this.layers?.all ?? []) feed.videoMuted = muted
  }

  get watchers(): number {
    return this.#sinks.size
  }

  get over(): boolean {
    return this.#over
  }

  /** Packets since the last key frame, in order; empty if none are kept. */
  get gop(): readonly SharedPacket[] {
    return this.kept.gop
  }

  /**
   * Finds a sent packet, with space for its send time, by its number. The packet must not be changed. Returns undefined
   * if the packet is too old or never arrived.
   */
  sentVideo(sequence: number): SharedPacket | undefined {
    return this.kept.find(sequence)
  }

  /**
   * Starts the conversion for a viewer. Returns a function to call when the viewer leaves.
   * @param sound whether the viewer requests sound; if only sound has to be converted, the conversion starts only for
   *   such viewers
   * @throws Problem transcoders if every transcoder is in use
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

  /** Takes a packet of the source. The feed owns the packet from now on. */
  pushVideo(packet: Buffer): void {
    this.#sinks.run(packet, this.#takes)
  }

  /**
   * Takes a packet of the source. The feed owns the packet from now on.
   * @param level level in the packet, in -dBov; -1: none
   */
  pushAudio(packet: Buffer, level = -1): void {
    const sent = this.sound.take(packet, level)
    if (sent !== undefined) this.#sinks.audio(sent)
  }

  /**
   * Continues with another stream of the source, whose sequence numbers are unrelated to those of the previous stream.
   */
  restart(kind: 'video' | 'audio'): void {
    if (kind === 'audio') return this.sound.restart()
    this.picture.restart()
    this.requestKeyFrame()
  }

  /** Clock that relates the timestamps of sound or picture to the source's time. */
  clock(kind: 'video' | 'audio'): StreamClock {
    return kind === 'video' ? this.picture.clock : this.sound.clock
  }

  /**
   * Continues with pictures of the same camera from another source, e.g. a decoder. The new numbers and times are
   * unrelated to the previous ones, and no viewer may begin with earlier pictures.
   */
  changeSource(): void {
    this.#sinks.inOrder(() => {
      this.kept.forgetGop()
      this.picture.entry.timestamp = -1
      this.picture.restart()
    })
  }

  /** Ends the feed and notifies every sink once. */
  end(): void {
    if (this.#over) return
    this.#over = true
    this.#sinks.end()
  }

  #sendVideo(packet: Buffer, content: PacketContent): void {
    if (!this.kept.cached && this.#sinks.size === 0) return
    const kept = withSendTime(packet)
    this.kept.add(kept, content)
    if (this.#videoMuted || this.#sinks.size === 0) return
    this.kept.addSent(kept)
    this.#sinks.video(kept, sequenceOf(kept))
  }
}

/** Conversion of a source that browsers cannot play. */
export interface FeedConversion {
  /** Codec of the source, e.g. `H.265`; empty while nothing is converted. */
  readonly from: string
  /** Whether pictures are converted, not only sound. */
  readonly pictures: boolean
  readonly state: ConversionState
  /** Last error; empty if there was none. */
  readonly problem: string
  /** Counts a viewer, and returns a function that stops counting the viewer. @throws Problem transcoders */
  prepare(): () => void
  /**
   * Converts the newest picture if the conversion is not running; never rejects. Returns undefined if the feed itself
   * contains the picture.
   */
  still(): Promise<KeyPicture | undefined> | undefined
}

/** Limits of a source's playback in browsers and of its recordings. */
export class Playback {
  /** Whether pictures arrive in another order than they are shown in. Browsers show few pictures of such streams. */
  bFrames = false
  /** Conversion, which runs while there are viewers; undefined if nothing has to be converted. */
  conversion: FeedConversion | undefined
  /**
   * Shortcoming of sound that is recorded only in converted form. It applies to recordings without the converted sound.
   */
  unconvertedSound: Shortcoming | undefined
  #shortcomings: readonly Shortcoming[] = []
  readonly #listeners = new Set<() => void>()

  /** Parts of the source's media that do not reach every browser, or are not recorded. */
  get shortcomings(): readonly Shortcoming[] {
    return this.#shortcomings
  }

  set shortcomings(shortcomings: readonly Shortcoming[]) {
    this.#shortcomings = shortcomings
    for (const listener of this.#listeners) listener()
  }

  /** Calls the listener after each change of the shortcomings. Returns the unsubscribe function. */
  onShortcomings(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Returns the tracks missing in a recording. @param hasSound whether the recording has sound */
  lacksInRecording(hasSound: boolean): Shortcoming[] {
    const lacks = this.#shortcomings.filter(({ recorded }) => !recorded)
    return this.unconvertedSound === undefined || hasSound ? lacks : [...lacks, this.unconvertedSound]
  }
}
