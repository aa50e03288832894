import type { Feed, FeedLease, PictureStream, PictureStreams } from './feed.ts'

/** A feed that is there as long as its source is. */
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

/** Streams that are the same as long as their source is there. */
export function fixedStreams(...list: readonly PictureStream[]): PictureStreams {
  return { list, onChange: () => () => {} }
}
