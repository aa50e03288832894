import type { RoomLook } from './control.ts'
import type { ToPerson } from './signal.ts'

/** Refusals of a link before joining. */
export type LinkRefusal = 'unauthorised' | 'removed'

/** Answer of a node to the room page before joining: `GET /entry/<room>`. */
export interface EntryLook extends Omit<RoomLook, 'opening'> {
  /** Left out: the room is open, or nobody knows when it opens. */
  opening?: Extract<ToPerson, { type: 'refused' }>['opening']
  /** Why the link that was shown is not enough; left out: it is, or there was none. */
  refusal?: LinkRefusal
}
