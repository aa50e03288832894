import type { TileSource } from './tile-exchange.ts'

/** Content of a tile: a picture, or why there is none. */
export interface TileContent {
  /** The camera's name, or the room's topic. */
  title: string
  /** Name of the person who is seen in a room; empty for a camera. */
  person: string
  source: TileSource | undefined
  /** Why there is no picture, in the operator's language; empty where there is one, or it is not known yet. */
  reason: string
  /** Since when, milliseconds since the epoch; 0 when that is not known. */
  since: number
  /** Next step, e.g. when it is tried again; may be empty. */
  next: string
  /** It is no more: nothing will come. */
  gone: boolean
  /** Its own page in the console. */
  page: string
}
