import type { RoomLook } from './controller-methods.ts'
import type { ToPerson } from './signal.ts'

/** Refusals of a link before joining. */
export type LinkRefusal = 'unauthorised' | 'removed' | 'deleted'

/** Response of a node to the room page before joining: `GET /entry/<room>`. */
export interface EntryLook extends Omit<RoomLook, 'opening' | 'refusal'> {
  /** Undefined: the room is open, or its opening time is unknown. */
  opening?: Extract<ToPerson, { type: 'refused' }>['opening']
  /**
   * Refusal of the link in the request: it is invalid, or its room was deleted. Undefined: it is valid, or there was
   * none.
   */
  refusal?: LinkRefusal
}
