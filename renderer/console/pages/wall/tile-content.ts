import type { TileSource } from './tile-exchange.ts'

/** Content of a tile: a picture, or the reason why there is none. */
export interface TileContent {
  /** The camera's name, or the room's topic. */
  title: string
  /** Name of the displayed user of a room; empty for a camera. */
  person: string
  /** Topic of a camera's room; empty for a room. */
  room: string
  source: TileSource | undefined
  /** Reason of a missing picture in the operator's language; empty: there is a picture, or the reason is unknown. */
  reason: string
  /** Start of the current state, in milliseconds since the epoch; 0: unknown. */
  since: number
  /** Next step, e.g. the time of the next attempt; may be empty. */
  next: string
  /** The camera or room no longer exists. */
  gone: boolean
  /** Path of the camera's or room's page. */
  page: string
}
