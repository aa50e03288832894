import { shownName } from '../../../../shared/control-character.ts'
import { hoursOf } from '../../../schedule/room-hours.ts'
import type { StoredRoom } from '../../../store/records.ts'
import { sealedPlaceOf } from '../../../store/sealed-places.ts'
import { isSameSealing } from '../../../store/sealer.ts'
import type { Store } from '../../../store/store.ts'
import type { NodeRoom } from '../../port/media-node-port.ts'
import type { PlacedNode } from '../state/live-node.ts'
import type { PoolContext } from '../state/pool-context.ts'

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
interface AskedMeanwhile {
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
export function isHeld(room: RoomPlacement | undefined): boolean {
  return room?.state === 'open' && room.told !== undefined
}

/** Returns whether the node holds the room with the stored record. */
export function isCurrent(room: RoomPlacement | undefined, wanted: StoredRoom): boolean {
  return room?.state === 'open' && room.told !== undefined && isSameNodeRoom(room.told, wanted)
}

/**
 * Returns the room in the form sent to a node.
 * @throws ApiError 'internal' if the host password cannot be unsealed
 */
export function toNodeRoom(room: StoredRoom, store: Pick<Store, 'unseal'>): NodeRoom {
  return {
    roomId: room.room_id,
    topic: shownName(room.topic),
    mode: room.room_mode,
    hostPassword:
      room.host_password_sealed === ''
        ? ''
        : store.unseal(room.host_password_sealed, sealedPlaceOf('rooms', room.room_id)),
    attendeeMax: room.attendee_max,
    maxVideo: room.max_video,
    maxAudio: room.max_audio,
    locked: room.locked,
    ...(room.waiting_room === true ? { waitingRoom: true } : {}),
    ...endOf(room),
  }
}

/** Returns the end of the current meeting of a scheduled room. */
function endOf({ schedule, schedule_mark: mark }: StoredRoom): Pick<NodeRoom, 'endsAt' | 'closesAt'> {
  const hours = schedule && hoursOf(schedule, mark, Date.now())
  return hours?.meeting === undefined || hours.closesAt === 0
    ? {}
    : { endsAt: hours.meeting.end, closesAt: hours.closesAt }
}

/**
 * Returns whether two records are equal for a node: the same room, with equal fields in `toNodeRoom`. Nothing is
 * unsealed.
 */
function isSameNodeRoom(one: StoredRoom, other: StoredRoom): boolean {
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
    (one.waiting_room ?? false) === (other.waiting_room ?? false) &&
    one.schedule === other.schedule &&
    one.schedule_mark?.start === other.schedule_mark?.start
  )
}

/** Records which rooms a node holds unexpectedly, and which it lacks. */
export class RoomDrift {
  readonly #node: PlacedNode
  readonly #context: Pick<PoolContext, 'index' | 'drift' | 'logger'>
  /** Whether the node was sent its rooms, so that a missing room was lost. A node that starts empty lacks nothing. */
  #wasSent: boolean
  /** Last deviating number of rooms that was logged; -1: none. */
  #excusedCount = -1

  constructor(node: PlacedNode, context: Pick<PoolContext, 'index' | 'drift' | 'logger'>) {
    this.#node = node
    this.#context = context
    this.#wasSent = node.resumes
  }

  /**
   * Compares the node's list of rooms with the expected one.
   * @param rooms rooms known before the list arrived
   */
  compare(
    rooms: ReadonlyMap<string, RoomPlacement>,
    held: ReadonlySet<string>,
    { wants, mayBeNewer }: AskedMeanwhile,
  ): void {
    const { index, drift } = this.#context
    const { name } = this.#node
    const isMissing = (roomId: string): boolean => {
      const room = rooms.get(roomId)
      return !held.has(roomId) && wants(roomId) && (room === undefined || !mayBeNewer(roomId, room))
    }
    const unknown = [...held].filter((roomId) => !rooms.has(roomId) && !wants(roomId))
    const missing = this.#wasSent ? index.roomsOf(name).filter(isMissing) : []
    this.#wasSent = true
    drift.found(name, 'roomUnknown', unknown)
    drift.found(name, 'roomMissing', missing)
  }

  /**
   * Returns whether the node reports another number of rooms than known, without an event. Returns true once for each
   * number.
   */
  isMiscounted(counted: number, known: number): boolean {
    if (counted === known || counted === this.#excusedCount) return false
    this.#excusedCount = counted
    const fields = { node: this.#node.name, counted, known }
    this.#context.logger.warn(fields, 'a node counts other rooms than are known of it: it is asked which')
    return true
  }

  /** Discards the state of the node. */
  forget(): void {
    this.#excusedCount = -1
  }
}
