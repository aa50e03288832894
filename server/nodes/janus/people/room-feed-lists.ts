import { type PublishedFeed, RoomFeeds } from './room-feeds.ts'

/** Streams in the rooms of a node that have a participant or observer of this site. */
export class RoomFeedLists {
  readonly #rooms = new Map<string, RoomFeeds>()
  readonly #changed: (roomId: string, feeds: RoomFeeds) => void

  constructor(changed: (roomId: string, feeds: RoomFeeds) => void) {
    this.#changed = changed
  }

  /** Streams of a room that has an observer, or is about to. */
  of(roomId: string): RoomFeeds {
    const known = this.#rooms.get(roomId)
    if (known !== undefined) return known
    const feeds: RoomFeeds = new RoomFeeds(() => {
      // Events about a forgotten room are no news.
      if (this.#rooms.get(roomId) === feeds) this.#changed(roomId, feeds)
    })
    this.#rooms.set(roomId, feeds)
    return feeds
  }

  /** Undefined for a room without an observer. */
  find(roomId: string): RoomFeeds | undefined {
    return this.#rooms.get(roomId)
  }

  /** Empty for a room without an observer. */
  list(roomId: string): PublishedFeed[] {
    return this.#rooms.get(roomId)?.list ?? []
  }

  forget(roomId: string): void {
    this.#rooms.delete(roomId)
  }

  clear(): void {
    this.#rooms.clear()
  }
}
