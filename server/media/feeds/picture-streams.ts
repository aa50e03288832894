import type { CameraSource } from '../../../shared/device-address.ts'
import type { CameraLease, CameraPulls } from './camera-pulls.ts'
import type { FeedCounts, VideoFormat } from './feed-tracks.ts'
import type { Feed, FeedLease, PictureStream, PictureStreams } from './feed.ts'

/** Streams of one source with the same picture in different sizes: simulcast layers, and second streams of cameras. */

/** A stream whose feed exists as long as its source. */
export class FeedStream implements PictureStream {
  readonly feed: Feed

  constructor(feed: Feed) {
    this.feed = feed
  }

  get height(): number {
    return this.feed.picture.entry.height
  }

  get bitrate(): number {
    return this.feed.picture.bitrate
  }

  async acquire(): Promise<FeedLease> {
    return { feed: this.feed, release: () => {} }
  }
}

/** Returns a list of streams that does not change. */
export function fixedStreams(...list: readonly PictureStream[]): PictureStreams {
  return { list, onChange: () => () => {} }
}

/**
 * Silence of a layer, in milliseconds, after which the layer counts as stopped if another layer sends. Browsers stop
 * layers to save bandwidth or CPU time.
 */
const stoppedMs = 700

/**
 * Layers of a publisher's picture: the same picture in several sizes, each with its own feed. The browser selects the
 * layers that it sends.
 */
export class Layers implements PictureStreams {
  readonly all: readonly FeedStream[]
  readonly #listeners = new Set<() => void>()
  readonly #flowing = new Set<FeedStream>()
  #list: readonly FeedStream[] = []
  /**
   * Time of the last picture of any layer, and start of the period without a pause. After a pause, layers begin again
   * one by one.
   */
  #lastAt = 0
  #steadySince = 0

  constructor(feeds: readonly Feed[]) {
    this.all = feeds.map((feed) => new FeedStream(feed))
  }

  get list(): readonly PictureStream[] {
    return this.#list
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Records the arrival of a picture of a layer. @param now milliseconds since the epoch */
  pictureCame(feed: Feed, now: number): void {
    if (now - this.#lastAt > stoppedMs) this.#steadySince = now
    this.#lastAt = now
    const steady = now - this.#steadySince > stoppedMs
    let changed = false
    for (const stream of this.all) {
      if (stream.feed === feed) {
        // A layer is available from its first key frame on.
        if (feed.picture.entry.timestamp < 0 || this.#flowing.has(stream)) continue
        this.#flowing.add(stream)
        changed = true
      } else if (steady && now - stream.feed.picture.lastPacketAt > stoppedMs) {
        changed = this.#flowing.delete(stream) || changed
      }
    }
    if (changed || !this.#inOrder()) this.#sort()
  }

  /**
   * Returns the total bytes of all layers with the source's sound, and the frame counts of the layer with the most
   * frames.
   */
  counted(sound: FeedCounts): FeedCounts {
    const counts = this.all.map(({ feed }) => feed.counts)
    const dominant = counts.reduce((before, each) => (each.frames > before.frames ? each : before), sound)
    return {
      videoBytes: counts.reduce((sum, { videoBytes }) => sum + videoBytes, 0),
      audioBytes: sound.audioBytes,
      frames: dominant.frames,
      keyFrames: dominant.keyFrames,
      lastKeyFrameAt: Math.max(...counts.map(({ lastKeyFrameAt }) => lastKeyFrameAt)),
      lastPacketAt: Math.max(sound.lastPacketAt, ...counts.map(({ lastPacketAt }) => lastPacketAt)),
      dropped: counts.reduce((sum, { dropped }) => sum + dropped, 0),
    }
  }

  #inOrder(): boolean {
    return this.#list.every(({ height }, index) => height <= (this.#list[index - 1]?.height ?? Infinity))
  }

  #sort(): void {
    this.#list = [...this.#flowing].toSorted((a, b) => b.height - a.height || b.bitrate - a.bitrate)
    for (const listener of [...this.#listeners]) listener()
  }
}

/** Timeout for acquiring the stream, in milliseconds. */
const answerMs = 3_000

/** A camera's second, smaller stream, pulled while it is in use. */
export class Substream implements PictureStream {
  readonly #pulls: CameraPulls
  readonly #camera: CameraSource
  #found: Feed | undefined
  /** Feed to begin with; undefined, because the stream is pulled only after `acquire`. */
  readonly feed = undefined

  constructor(pulls: CameraPulls, camera: CameraSource) {
    this.#pulls = pulls
    this.#camera = camera
  }

  get height(): number {
    return this.#found?.picture.entry.height ?? 0
  }

  get bitrate(): number {
    return this.#found?.picture.bitrate ?? 0
  }

  /**
   * Takes a share in the stream's pull. Returns undefined if the stream is unavailable or has no suitable picture.
   * @param codec required codec; undefined: any
   * @param lost called once when the pull ends by itself
   */
  async acquire(
    codec: VideoFormat['codec'] | undefined,
    signal: AbortSignal,
    lost: () => void,
  ): Promise<CameraLease | undefined> {
    try {
      const ended = AbortSignal.any([signal, AbortSignal.timeout(answerMs)])
      const lease = await this.#pulls.acquire(this.#camera, ended, lost)
      const found = lease.feed.video?.codec
      if (found === undefined || (codec !== undefined && found !== codec)) {
        lease.release()
        return undefined
      }
      this.#found = lease.feed
      return prepared(lease)
    } catch {
      // The main stream is sent instead.
      return undefined
    }
  }
}

/** Starts the conversion for a lease. @throws Problem transcoders, after releasing the lease */
function prepared(lease: CameraLease): CameraLease {
  try {
    const done = lease.feed.prepare(false)
    return {
      feed: lease.feed,
      release: () => {
        done()
        lease.release()
      },
    }
  } catch (error) {
    lease.release()
    throw error
  }
}

/**
 * Streams of a camera whose second stream is already acquired, so that a viewer with a small picture begins with the
 * second stream. After its pull ends by itself, the second stream must be acquired again.
 */
export class HeldSecond implements PictureStreams {
  readonly #later: readonly PictureStream[]
  #list: readonly PictureStream[]
  readonly #listeners = new Set<() => void>()

  /**
   * @param held feed of the second stream, whose lease the caller releases
   * @param later the same stream, in the form that has to be acquired
   */
  constructor(main: Feed, held: Feed, later: PictureStream) {
    const large = main.playback.conversion?.pictures === true ? new ConvertedStream(main) : new FeedStream(main)
    this.#list = [large, new FeedStream(held)]
    this.#later = [large, later]
  }

  get list(): readonly PictureStream[] {
    return this.#list
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Replaces the second stream after its pull ended by itself. */
  lost(): void {
    this.#list = this.#later
    for (const listener of [...this.#listeners]) listener()
  }
}

/** A picture that is converted only while it is sent to a viewer. */
class ConvertedStream implements PictureStream {
  readonly #source: Feed
  readonly feed = undefined

  constructor(source: Feed) {
    this.#source = source
  }

  get height(): number {
    return this.#source.picture.entry.height
  }

  get bitrate(): number {
    return this.#source.picture.bitrate
  }

  async acquire(): Promise<FeedLease | undefined> {
    try {
      return { feed: this.#source, release: this.#source.prepare() }
    } catch {
      // Every transcoder is in use.
      return undefined
    }
  }
}
