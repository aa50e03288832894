import type { StoredRoom } from '../../../store/records.ts'
import { isSameNodeRoom } from './node-room.ts'

/**
 * One room on one node, by the node's last report. `opening`: the request is pending; `open`: the node holds the room,
 * perhaps with an earlier record; `closing`: the room must be closed before anything else. A room without a placement
 * is not on the node.
 */
export interface RoomPlacement {
  state: 'opening' | 'open' | 'closing'
  /** Record last accepted by the node; undefined if no record was sent since the node reconnected. */
  told: StoredRoom | undefined
  /** Whether the node holds the room, or may hold it because a call was not answered. */
  mayHold: boolean
  /** Whether presence matches the node's list of users. The node's events then keep presence up to date. */
  presenceKnown: boolean
  /** Users whose changes the node reports while its list of users is being read. */
  heard: Set<string> | undefined
  /** Time of the node's last answer about this room, on the clock of `performance.now()`. */
  answeredAt: number
}

/**
 * Returns the placement of a room before its request to the node.
 * @param presenceKnown whether the room cannot have unknown users
 */
export function openingPlacement(presenceKnown: boolean): RoomPlacement {
  return { state: 'opening', told: undefined, mayHold: false, presenceKnown, heard: undefined, answeredAt: 0 }
}

/** Returns the placement of a room in the node's list, whose record is unknown. */
function foundPlacement(): RoomPlacement {
  return { ...openingPlacement(false), state: 'open', mayHold: true }
}

/** State of rooms that may have changed while the node's list was being read. */
export interface AskedMeanwhile {
  wants: (roomId: string) => boolean
  /** Whether the room changed, or may have changed, since the request. */
  mayBeNewer: (roomId: string, room: RoomPlacement) => boolean
}

/** Applies the node's list of its rooms. Rooms that changed during the request keep their newer state. */
export function takeHeld(
  rooms: Map<string, RoomPlacement>,
  held: ReadonlySet<string>,
  { wants, mayBeNewer }: AskedMeanwhile,
): void {
  for (const roomId of held) {
    if (rooms.has(roomId)) continue
    const room = foundPlacement()
    if (!wants(roomId)) room.state = 'closing'
    rooms.set(roomId, room)
  }
  for (const [roomId, room] of rooms) if (!held.has(roomId) && !mayBeNewer(roomId, room)) rooms.delete(roomId)
}

/** Returns whether the node holds the room with any record, and keeps it. */
export function isPlacementHeld(room: RoomPlacement | undefined): boolean {
  return room?.state === 'open' && room.told !== undefined
}

/** Returns whether the node holds the room with the stored record. */
export function isCurrent(room: RoomPlacement | undefined, wanted: StoredRoom): boolean {
  return room?.state === 'open' && room.told !== undefined && isSameNodeRoom(room.told, wanted)
}
