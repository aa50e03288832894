import type { Feed } from './feed.ts'
import type { FeedCounts } from './feed-format.ts'
import { FeedStream } from './picture-streams.ts'
import type { PictureStream, PictureStreams } from './feed.ts'

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
