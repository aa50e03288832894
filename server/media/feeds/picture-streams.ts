import type { Feed, FeedLease, PictureStream, PictureStreams } from './feed.ts'

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
