import type { NodeRoom } from '../../../shared/media/node-room.ts'
import type { ScheduledEnd } from '../../../shared/media/signal.ts'

/** A room as the controller wants it held. */
export interface RoomConfig extends NodeRoom {
  /** Its media is on another node. */
  isRemote: boolean
}

/** End of the meeting as people are told it: in milliseconds from now, because their clocks may differ. */
export function endIn({ endsAt, closesAt }: RoomConfig, now: number): Pick<ScheduledEnd, 'end'> {
  return endsAt === undefined || closesAt === undefined
    ? {}
    : { end: { ends_in_ms: endsAt - now, closes_in_ms: closesAt - now } }
}

/** Modes 3 and 4: people send to each other, the node forwards cameras only (specification, room_mode). */
export function isPeerToPeer({ mode }: RoomConfig): boolean {
  return mode === 3 || mode === 4
}
