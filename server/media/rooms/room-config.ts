import type { NodeRoom } from '../../../shared/media/node-room.ts'
import type { ScheduledEnd } from '../../../shared/media/signal.ts'

/** Configuration of a room, from the controller. */
export interface RoomConfig extends NodeRoom {
  isRemote: boolean
}

/** Returns the end of the meeting as sent to clients: in milliseconds from now, because their clocks may differ. */
export function endIn({ endsAt, closesAt }: RoomConfig, now: number): Pick<ScheduledEnd, 'end'> {
  return endsAt === undefined || closesAt === undefined
    ? {}
    : { end: { ends_in_ms: endsAt - now, closes_in_ms: closesAt - now } }
}

/**
 * Whether people send to each other directly and the node forwards cameras only: modes 3 and 4 (specification,
 * room_mode).
 */
export function isPeerToPeer({ mode }: RoomConfig): boolean {
  return mode === 3 || mode === 4
}
