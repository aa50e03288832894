import type { NodeRoom } from '../../../shared/media/node-room.ts'
import type { ScheduledEnd } from '../../../shared/media/signal.ts'

/** Configuration of a room, from the controller. */
export interface RoomConfig extends NodeRoom {
  isRemote: boolean
}

/**
 * Returns the time until the end of the meeting, for clients. The time is relative, because the clients' clocks may
 * differ.
 */
export function endIn({ endsAt, closesAt }: RoomConfig, now: number): Pick<ScheduledEnd, 'end'> {
  return endsAt === undefined || closesAt === undefined
    ? {}
    : { end: { ends_in_ms: endsAt - now, closes_in_ms: closesAt - now } }
}

/**
 * Returns whether people send to each other directly and the node forwards cameras only: modes 3 and 4 (specification,
 * room_mode).
 */
export function isPeerToPeer({ mode }: RoomConfig): boolean {
  return mode === 3 || mode === 4
}
