import type { MediaLog } from '../base/media-log.ts'
import { dropped } from '../base/traffic.ts'
import type { Feed } from '../feeds/feed.ts'

/** Fields of a room that `FeedOverflows` reads. */
interface OverflowingRoom {
  config: { roomId: string }
  streams: { values(): Iterable<{ feed: Feed; view: { stream_id: string } }> }
}

/**
 * Logs each stream whose viewers miss packets because this machine is too slow to send all packets. Logs a stream once.
 */
export class FeedOverflows {
  readonly #log: MediaLog
  readonly #logged = new WeakSet<Feed>()
  #seen = 0

  constructor(log: MediaLog) {
    this.#log = log
  }

  /**
   * Checks the rooms for streams with dropped packets. Returns at once if no packet was dropped since the last call.
   */
  look(rooms: Iterable<OverflowingRoom>): void {
    if (dropped.viewers === this.#seen) return
    this.#seen = dropped.viewers
    for (const { config, streams } of rooms) {
      for (const { feed, view } of streams.values()) {
        const packets = feed.counts.dropped
        if (packets === 0 || this.#logged.has(feed)) continue
        this.#logged.add(feed)
        const where = `room ${config.roomId}, stream ${view.stream_id}, ${packets} packets so far`
        this.#log.warn('this machine is too slow for all viewers of a stream: packets were left out', where)
      }
    }
  }
}
