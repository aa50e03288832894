import type { Feed, VideoFormat } from './feed.ts'

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

/** A feed that is there as long as its source is. */
export class FeedStream implements PictureStream {
  readonly feed: Feed

  constructor(feed: Feed) {
    this.feed = feed
  }

  get height(): number {
    return this.feed.height
  }

  get bitrate(): number {
    return this.feed.videoBitrate
  }

  async acquire(): Promise<FeedLease> {
    return { feed: this.feed, release: () => {} }
  }
}

/** Streams that are the same as long as their source is there. */
export function fixedStreams(...list: readonly PictureStream[]): PictureStreams {
  return { list, onChange: () => () => {} }
}
