import { type PublishedFeed, RoomFeeds } from './room-feeds.ts'

/** What is published in the rooms of a node in which somebody of ours hears of it. */
export class RoomFeedLists {
  readonly #rooms = new Map<string, RoomFeeds>()
  readonly #changed: (roomId: string, feeds: RoomFeeds) => void

  constructor(changed: (roomId: string, feeds: RoomFeeds) => void) {
    this.#changed = changed
  }

  /** Of a room in which somebody hears of it, or is about to. */
  of(roomId: string): RoomFeeds {
    const known = this.#rooms.get(roomId)
    if (known !== undefined) return known
    const feeds: RoomFeeds = new RoomFeeds(() => {
      // What is told of a room that was forgotten is nothing new.
      if (this.#rooms.get(roomId) === feeds) this.#changed(roomId, feeds)
    })
    this.#rooms.set(roomId, feeds)
    return feeds
  }

  /** Undefined where nobody hears of it. */
  find(roomId: string): RoomFeeds | undefined {
    return this.#rooms.get(roomId)
  }

  /** Empty where nobody hears of it. */
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
