import { mustNotFail } from '../../../shared/unawaited.ts'
import type { Sink } from '../feeds/fan-out.ts'
import type { Feed } from '../feeds/feed.ts'
import type { VideoFormat } from '../feeds/feed-tracks.ts'
import type { FeedLease, PictureStream } from '../feeds/feed.ts'
import type { Lifetime } from '../base/lifetime.ts'
import type { Limit } from './paced-video.ts'
import type { ViewerVideo } from './viewer-video.ts'

export interface SwitchOptions {
  video: ViewerVideo
  /** Main feed. The viewer is already registered as its sink. */
  main: Feed
  lifetime: Lifetime
  /** Called when handling a packet throws an unexpected error. */
  failed: (error: unknown) => void
  /** Called when a stream could not be acquired or has ended. */
  lost: (stream: PictureStream) => void
}

interface Held extends FeedLease {
  stream: PictureStream
  sink: Sink | undefined
}

/**
 * Switches a viewer from one stream of a picture to another. The old stream continues until the new one has a picture
 * that can be decoded by itself.
 */
export class StreamSwitch {
  readonly #options: SwitchOptions
  readonly #abort = new AbortController()
  /** Stream that is sent, and stream that is awaited. */
  #held: Held | undefined
  #coming: Held | undefined
  #asking = false

  constructor(options: SwitchOptions) {
    this.#options = options
    options.lifetime.onEnd(() => {
      this.#abort.abort(new Error('the viewer is gone'))
      this.#drop(this.#coming)
      this.#drop(this.#held)
    })
  }

  /** Whether a stream was requested and is neither available nor refused yet. */
  get asking(): boolean {
    return this.#asking
  }

  /** Stream that is sent now, or was sent last. */
  get stream(): PictureStream | undefined {
    return this.#held?.stream
  }

  /** Feed that is sent, or the awaited one while none is sent. */
  get feed(): Feed {
    return (this.#held ?? this.#coming)?.feed ?? this.#options.main
  }

  /** Sends the first stream, which has a feed already. */
  start(stream: PictureStream, feed: Feed): void {
    this.#held = this.#tapped(stream, { feed, release: () => {} })
    this.#options.video.start(feed, performance.now())
  }

  /**
   * Switches to a stream, at once if it has a feed already.
   * @param limitOf returns the limit for the stream's feed
   */
  take(stream: PictureStream, limitOf: (feed: Feed) => Limit | undefined): void {
    if (stream.feed !== undefined) this.#take(stream, { feed: stream.feed, release: () => {} }, limitOf)
    else if (this.#held?.stream === stream) this.#take(stream, this.#held, limitOf)
    else mustNotFail(this.#acquire(stream, limitOf))
  }

  /** Records that packets of this feed are sent from now on. */
  adopted(feed: Feed): void {
    if (this.#coming?.feed !== feed) return
    this.#drop(this.#held)
    this.#held = this.#coming
    this.#coming = undefined
  }

  async #acquire(stream: PictureStream, limitOf: (feed: Feed) => Limit | undefined): Promise<void> {
    const { lifetime, main } = this.#options
    const codec: VideoFormat['codec'] = main.video?.codec ?? 'H264'
    this.#asking = true
    const lost = lifetime.guard(() => this.#lost(stream))
    const lease = await stream.acquire(codec, this.#abort.signal, lost)
    lifetime.guard(() => {
      this.#asking = false
      if (lease === undefined) this.#options.lost(stream)
      else this.#take(stream, lease, limitOf)
    })()
    if (lifetime.over) lease?.release()
  }

  #take(stream: PictureStream, lease: FeedLease, limitOf: (feed: Feed) => Limit | undefined): void {
    const { feed } = lease
    if (feed !== this.#coming?.feed) {
      this.#drop(this.#coming)
      this.#coming = feed === this.#held?.feed ? undefined : this.#tapped(stream, lease)
    }
    this.#options.video.switchTo(feed, limitOf(feed))
  }

  #lost(stream: PictureStream): void {
    if (this.#coming?.stream === stream) {
      this.#drop(this.#coming)
      this.#coming = undefined
    }
    if (this.#held?.stream === stream) {
      this.#drop(this.#held)
      this.#held = undefined
    }
    this.#options.lost(stream)
  }

  #tapped(stream: PictureStream, lease: FeedLease): Held {
    const { feed } = lease
    const sink = feed === this.#options.main ? undefined : this.#sinkOf(feed)
    if (sink !== undefined) feed.add(sink)
    return { stream, feed, sink, release: () => lease.release() }
  }

  #drop(held: Held | undefined): void {
    if (held?.sink !== undefined) held.feed.remove(held.sink)
    held?.release()
  }

  /** Returns a sink for pictures; sound comes from the main feed. */
  #sinkOf(feed: Feed): Sink {
    const { failed, video } = this.#options
    return {
      video: (packet, sequence) => video.take(feed, packet, sequence),
      audio: () => {},
      report: () => {},
      // The lease reports the end of the stream.
      ended: () => {},
      failed,
    }
  }
}
