import type { NodeRoom } from '../../../shared/media/node-room.ts'

/** A room as the controller wants it held. */
export interface RoomConfig extends NodeRoom {
  /** Its media is on another node. */
  isRemote: boolean
}

/** Modes 3 and 4: people send to each other, the node forwards cameras only (specification, room_mode). */
export function isPeerToPeer({ mode }: RoomConfig): boolean {
  return mode === 3 || mode === 4
}
