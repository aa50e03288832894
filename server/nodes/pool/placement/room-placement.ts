import type { StoredRoom } from '../../../store/records.ts'
import { isSameSealing } from '../../../store/sealer.ts'

/**
 * One room on one node, as the node last said. `opening`: it was told to hold the room and has not said yes yet; `open`: it holds the room, perhaps as an earlier
 * record; `closing`: the room must go before anything else happens to it. A room without a placement is absent.
 */
export interface RoomPlacement {
  state: 'opening' | 'open' | 'closing'
  /** The record that the node took last; undefined when it was not told since it came (back). */
  told: StoredRoom | undefined
  /** The node holds it, or may: a call was not answered. */
  mayHold: boolean
  /** Presence is what the node said. What it tells by itself keeps it so. */
  presenceKnown: boolean
  /** While the node is asked who is in the room: userIds of whom it told something meanwhile. */
  heard: Set<string> | undefined
  /** When the node last answered for it, on the clock of `performance.now()`. */
  answeredAt: number
}

/** A room that the node is about to be told. `presenceKnown`: nobody can be in it who is not known. */
export function openingPlacement(presenceKnown: boolean): RoomPlacement {
  return { state: 'opening', told: undefined, mayHold: false, presenceKnown, heard: undefined, answeredAt: 0 }
}

/** A room that the node holds by its own word, nobody knows as which record. */
function foundPlacement(): RoomPlacement {
  return { ...openingPlacement(false), state: 'open', mayHold: true }
}

/** What is known of rooms while the node is asked which it holds. */
export interface AskedMeanwhile {
  wants: (roomId: string) => boolean
  /** It changed, or may have, since the node was asked. */
  mayBeNewer: (roomId: string, room: RoomPlacement) => boolean
}

/** What is known of the node's rooms becomes what it said; rooms that changed while it was asked are as they are known. */
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
  return room?.state === 'open' && room.told !== undefined && looksSame(room.told, wanted)
}

/** Whether two records are the same room to a node: what it is not told may differ. */
function looksSame(one: StoredRoom, other: StoredRoom): boolean {
  if (one === other) return true
  return (
    one.id === other.id &&
    one.topic === other.topic &&
    one.room_mode === other.room_mode &&
    isSameSealing(one.host_password_sealed, other.host_password_sealed) &&
    one.attendee_max === other.attendee_max &&
    one.max_video === other.max_video &&
    one.max_audio === other.max_audio &&
    one.locked === other.locked &&
    (one.waiting_room ?? false) === (other.waiting_room ?? false)
  )
}
