import { type PublishedFeed, RoomFeeds } from './room-feeds.ts'

/** Streams in the rooms of a node that have a participant or observer of this site. */
export class RoomFeedLists {
  readonly #rooms = new Map<string, RoomFeeds>()
  readonly #changed: (roomId: string, feeds: RoomFeeds) => void

  constructor(changed: (roomId: string, feeds: RoomFeeds) => void) {
    this.#changed = changed
  }

  /** Returns the streams of a room that has an observer, or is about to have one. */
  of(roomId: string): RoomFeeds {
    const known = this.#rooms.get(roomId)
    if (known !== undefined) return known
    const feeds: RoomFeeds = new RoomFeeds(() => {
      // Events about a removed room are ignored.
      if (this.#rooms.get(roomId) === feeds) this.#changed(roomId, feeds)
    })
    this.#rooms.set(roomId, feeds)
    return feeds
  }

  /** Returns the streams of a room; undefined for a room without an observer. */
  find(roomId: string): RoomFeeds | undefined {
    return this.#rooms.get(roomId)
  }

  /** Returns the list of streams of a room; empty for a room without an observer. */
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
