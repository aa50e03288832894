import type { RoomLook } from './control.ts'
import type { ToPerson } from './signal.ts'

/** Refusals of a link before joining. */
export type LinkRefusal = 'unauthorised' | 'removed' | 'deleted'

/** Answer of a node to the room page before joining: `GET /entry/<room>`. */
export interface EntryLook extends Omit<RoomLook, 'opening' | 'refusal'> {
  /** Left out: the room is open, or its opening is unknown. */
  opening?: Extract<ToPerson, { type: 'refused' }>['opening']
  /** Refusal of the link in the request: it is invalid, or its room was deleted. Left out: it admits, or there was none. */
  refusal?: LinkRefusal
}
