import type { StoredRoom } from '../../../store/records.ts'
import { isSameNodeRoom } from './node-room.ts'

/**
 * One room on one node, by the node's last report. `opening`: the request is under way; `open`: the node holds the room, perhaps as an earlier record; `closing`: the room must
 * close before anything else. A room without a placement is absent.
 */
export interface RoomPlacement {
  state: 'opening' | 'open' | 'closing'
  /** Record that the node took last; undefined when it took none since it came back. */
  told: StoredRoom | undefined
  /** The node holds it, or may: a call was not answered. */
  mayHold: boolean
  /** Presence is what the node said. What it tells by itself keeps it so. */
  presenceKnown: boolean
  /** Users whose changes the node reports while it is asked who is in the room. */
  heard: Set<string> | undefined
  /** When the node last answered for it, on the clock of `performance.now()`. */
  answeredAt: number
}

/** Placement of a room before its request to the node. `presenceKnown`: nobody unknown can be in it. */
export function openingPlacement(presenceKnown: boolean): RoomPlacement {
  return { state: 'opening', told: undefined, mayHold: false, presenceKnown, heard: undefined, answeredAt: 0 }
}

/** A room that the node listed; the record that it took is unknown. */
function foundPlacement(): RoomPlacement {
  return { ...openingPlacement(false), state: 'open', mayHold: true }
}

/** Changes of rooms while the node is asked which it holds. */
export interface AskedMeanwhile {
  wants: (roomId: string) => boolean
  /** It changed, or may have, since the node was asked. */
  mayBeNewer: (roomId: string, room: RoomPlacement) => boolean
}

/** Takes the node's list of its rooms; rooms that changed during the request keep their newer state. */
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

/** The node holds the room, in whatever record, and is to go on with it. */
export function isHeld(room: RoomPlacement | undefined): boolean {
  return room?.state === 'open' && room.told !== undefined
}

/** The node holds the room as it is stored. */
export function isCurrent(room: RoomPlacement | undefined, wanted: StoredRoom): boolean {
  return room?.state === 'open' && room.told !== undefined && isSameNodeRoom(room.told, wanted)
}
