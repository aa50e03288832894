import type { Feed } from '../feeds/feed.ts'
import type { ClockPoint } from '../rtp/rtcp.ts'
import type { Kind } from './conversion-run.ts'
import type { ConvertedTracks } from './converted-tracks.ts'

/** Interval of clock points made from arrivals, in milliseconds. */
const arrivalMs = 1_000

/** Keeps sound and picture of a converted camera in step, by its sender reports or, where those are missing, by the arrival of packets. */
export class TrackSync {
  readonly #feed: Feed
  readonly #tracks: ConvertedTracks
  /** Kinds of which the camera sends reports. */
  readonly #reported: Record<Kind, boolean> = { video: false, audio: false }
  /** Time of the last clock point from an arrival. */
  readonly #arrivedAt: Record<Kind, number> = { video: -Infinity, audio: -Infinity }
  /** Milliseconds that the camera's clock is ahead of the node's, by its last report. */
  #ahead = 0

  constructor(feed: Feed, tracks: ConvertedTracks) {
    this.#feed = feed
    this.#tracks = tracks
  }

  /** Takes a sender report of the camera. */
  report(kind: Kind, point: ClockPoint): void {
    this.#reported[kind] = true
    this.#ahead = point.ntp - Date.now()
    this.#note(kind, point)
  }

  /** Takes a packet of the camera: converted media comes later than the rest, so that the feed cannot go by its own arrivals. */
  arrived(kind: Kind, packet: Buffer, now: number): void {
    if (this.#reported[kind] || now - this.#arrivedAt[kind] < arrivalMs) return
    this.#arrivedAt[kind] = now
    // By the clock of the reports of the other track, which the two are compared by.
    this.#note(kind, { ntp: Date.now() + this.#ahead, timestamp: packet.readUInt32BE(4), middle: 0 })
  }

  /** @param point in timestamps of the camera */
  #note(kind: Kind, point: ClockPoint): void {
    const input = this.#tracks.inputs[kind]
    const timestamp = input === undefined ? point.timestamp : input.timestamp(input.clock.at(point.timestamp))
    this.#feed.clock(kind).reported({ ...point, timestamp }, Date.now())
  }
}
