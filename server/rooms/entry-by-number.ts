import type { RoomLook, RoomRefusal } from '../../shared/media/control.ts'
import { retOf, success } from '../../shared/result-codes.ts'
import type { LookedRoom } from '../nodes/embedded/embedded-media-options.ts'
import type { NodePool } from '../nodes/pool/node-pool.ts'
import type { RequestObserver } from '../observe/observation.ts'
import { hoursOf } from '../schedule/room-hours.ts'
import type { StoredRoom } from '../store/records.ts'
import type { Rooms } from './room-lifecycle.ts'
import { visitNames } from '../../shared/room-entry.ts'

/** Needs of judging a room by its number. */
export interface EntryByNumberParts {
  store: { get(collection: 'rooms', key: string): StoredRoom | undefined }
  rooms: Pick<Rooms, 'openToNumber'>
}

/** Why somebody who shows nothing but the number of a room may not enter it. */
export interface NumberRefusal {
  /** Refusal for the visitor: the same for a room that is closed, for one that its number does not open, and for no room. */
  refusal: Extract<RoomRefusal, 'unauthorised' | 'locked'>
  /** For the operator only. */
  reason: string
}

/** Whether the number of a room is enough to enter it now; undefined when it is. O(1). */
export function refusalByNumber({ store, rooms }: EntryByNumberParts, roomId: string): NumberRefusal | undefined {
  const room = store.get('rooms', roomId)
  if (room === undefined) return { refusal: 'unauthorised', reason: 'there is no such room' }
  if (!rooms.openToNumber(room)) return { refusal: 'unauthorised', reason: 'the number of this room does not open it' }
  if (room.closed) return { refusal: 'unauthorised', reason: 'the room is closed' }
  return room.locked ? { refusal: 'locked', reason: 'the room is locked' } : undefined
}

/** Facts for a visitor who learns nothing about a room. */
export const unknownRoom: RoomLook = { by_number: false, host_password: false, topic: '' }

/** When a scheduled room opens; undefined: it is open, or not scheduled to open. O(1). */
export function openingOf(room: StoredRoom | undefined, now: number): RoomLook['opening'] {
  if (room?.schedule === undefined || room.closed) return undefined
  const { opensAt, next } = hoursOf(room.schedule, room.schedule_mark, now)
  return opensAt === 0 || next === undefined ? undefined : { opensAt, startsAt: next.start }
}

/** Maximum number of names shown before joining. */
const maxNames = 12

/**
 * Facts about a room for a visitor before joining: a stranger, or somebody with a link that the node has checked. Nothing is opened. A lookup that finds nothing may be a guess,
 * and is reported to the observer.
 * @param at milliseconds since the epoch
 */
export function lookAtRoom(
  parts: EntryByNumberParts & { observer: RequestObserver; pool: Pick<NodePool, 'usersOf'> },
  { roomId, client, role }: LookedRoom,
  at = Date.now(),
): RoomLook {
  const refused = refusalByNumber(parts, roomId)
  const room = parts.store.get('rooms', roomId)
  const opening = openingOf(room, at)
  const linked = role !== undefined && room !== undefined ? { people: peopleIn(parts.pool, room, role) } : {}
  const facts = { topic: room?.topic ?? '', ...(opening === undefined ? {} : { opening }), ...linked }
  if (refused === undefined || refused.refusal === 'locked') {
    return { by_number: true, host_password: room?.host_password_sealed !== '', ...facts }
  }
  if (role !== undefined && room === undefined) return { ...unknownRoom, refusal: 'deleted' }
  if (role !== undefined) return { by_number: false, host_password: false, ...facts }
  parts.observer.observe({
    at,
    api: 'media',
    operation: visitNames.lookAtRoom,
    method: 'GET',
    path: '/entry',
    ret: retOf('media', 'authenticationFailed') ?? success,
    duration: 0,
    client,
    credential: '',
    room: roomId,
    params: new Map(),
    msg: 'A join link is required.',
    reason: refused.reason,
  })
  return unknownRoom
}

/** People of a room for the holder of a link: names only if the link admits now. */
function peopleIn(
  pool: Pick<NodePool, 'usersOf'>,
  room: StoredRoom,
  role: NonNullable<LookedRoom['role']>,
): RoomLook['people'] {
  const people = pool.usersOf(room.room_id).filter(({ device }) => !device)
  const mustWait = room.waiting_room === true && role !== 'host'
  if (room.locked || mustWait) return { count: people.length }
  return { count: people.length, names: people.slice(0, maxNames).map(({ userName }) => userName) }
}
