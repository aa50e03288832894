import type { RoomLook } from './controller-methods.ts'
import type { ToPerson } from './signal.ts'

/** Reasons why a link is rejected before joining. */
export type LinkRefusal = 'unauthorised' | 'removed' | 'deleted'

/** Response of a node to the room page before joining: `GET /entry/<room>`. */
export interface EntryLook extends Omit<RoomLook, 'opening' | 'refusal'> {
  /** Opening time; undefined: the room is open, or its opening time is unknown. */
  opening?: Extract<ToPerson, { type: 'refused' }>['opening']
  /**
   * Reason why the link in the request is rejected: the link is invalid, or its user or room was removed. undefined:
   * the link is valid, or the request contained none.
   */
  refusal?: LinkRefusal
}
