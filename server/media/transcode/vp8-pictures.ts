import type { PacketLoan, Sink } from '../feeds/fan-out.ts'
import { Feed, type FeedLease } from '../feeds/feed.ts'
import type { RtspTrack } from '../rtsp/description.ts'
import { wholeText } from '../base/media-log.ts'
import type { VideoFormat } from '../feeds/feed-tracks.ts'
import { CameraConversion } from './camera-conversion.ts'
import type { Transcoding } from './transcoding.ts'

export const vp8Format: VideoFormat = { codec: 'VP8', profileLevelId: '', parameterSets: '' }

/**
 * Converts pictures of feeds in H.264 and H.265 to VP8, which every browser decodes. All viewers of a feed share one
 * conversion.
 */
export class Vp8Pictures {
  readonly #transcoding: Transcoding
  readonly #byFeed = new WeakMap<Feed, Vp8Picture>()

  constructor(transcoding: Transcoding) {
    this.#transcoding = transcoding
  }

  /**
   * Takes a share in a feed's pictures in VP8, without its sound. Returns undefined if this machine cannot convert the
   * pictures.
   * @throws Problem transcoders if every transcoder is in use
   */
  async acquire(source: Feed): Promise<FeedLease | undefined> {
    await this.#transcoding.abilities()
    if (this.#transcoding.program?.vp8 !== true || source.layers !== undefined || source.over) return undefined
    const there = this.#byFeed.get(source)
    const picture = there === undefined || there.feed.over ? new Vp8Picture(source, this.#transcoding) : there
    this.#byFeed.set(source, picture)
    return { feed: picture.feed, release: picture.prepare() }
  }
}

/**
 * Pictures of one feed in VP8, converted from the first viewer until a few seconds after the last viewer. This object
 * is a sink of the feed, like a viewer.
 */
class Vp8Picture implements Sink {
  readonly feed: Feed
  readonly #source: Feed
  readonly #transcoding: Transcoding
  readonly #conversion: CameraConversion

  constructor(source: Feed, transcoding: Transcoding) {
    this.#source = source
    this.#transcoding = transcoding
    this.feed = new Feed({
      video: vp8Format,
      audio: undefined,
      cached: true,
      requestKeyFrame: () => this.#conversion.requestKeyFrame(),
    })
    this.#conversion = new CameraConversion(this.feed, transcoding)
    this.#conversion.convert(trackOf(source))
    for (const packet of source.gop) this.#conversion.push('video', Buffer.from(packet))
    this.#noteClock(Date.now())
    // The feed keeps no packets, so the decoder begins with the next key frame.
    if (source.gop.length === 0) source.requestKeyFrame()
    source.add(this)
  }

  /** Counts a viewer, and returns a function that stops counting the viewer. @throws Problem transcoders */
  prepare(): () => void {
    return this.#conversion.prepare()
  }

  video(packet: PacketLoan): void {
    packet.lend(pushTo, this.#conversion)
  }

  audio(): void {}

  report(now: number): void {
    this.#noteClock(now)
    if (this.#conversion.idle && this.#conversion.state === 'idle') this.#end()
  }

  ended(): void {
    this.#end()
  }

  failed(error: unknown): void {
    this.#transcoding.log.error('pictures in VP8 could not be made', wholeText(error))
    this.#end()
  }

  /** Relates the times of the pictures to the clock of the source, whose sound the viewers receive. */
  #noteClock(now: number): void {
    const clock = this.#source.clock('video').at(now)
    if (clock !== undefined) this.#conversion.report('video', { ...clock, middle: 0 })
  }

  #end(): void {
    this.#source.remove(this)
    this.#conversion.close()
    this.feed.end()
  }
}

/** Returns the picture of a feed as a track, as cameras describe it. */
function trackOf({ video }: Feed): RtspTrack {
  const { codec = 'H264', parameterSets = '' } = video ?? {}
  const parameters = new Map(parameterSets === '' ? [] : [['sprop-parameter-sets', parameterSets]])
  return { kind: 'video', payloadType: 96, codec, clockRate: 90_000, channels: 0, parameters, control: '' }
}

function pushTo(packet: Buffer, conversion: CameraConversion): void {
  conversion.push('video', packet)
}
