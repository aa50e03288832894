import type { RoomLook, RoomRefusal } from '../../shared/media/controller-methods.ts'
import { retOf, success } from '../../shared/result-codes.ts'
import type { LookedRoom } from '../nodes/embedded/embedded-media-options.ts'
import type { PresenceView } from '../nodes/pool/state/presence.ts'
import type { RequestObserver } from '../observe/observation.ts'
import { hoursOf } from '../schedule/room-hours.ts'
import type { StoredRoom } from '../store/records.ts'
import type { Rooms } from './room-lifecycle.ts'
import { visitNames } from '../../shared/room-entry.ts'

export interface EntryByNumberDependencies {
  store: { get(collection: 'rooms', key: string): StoredRoom | undefined }
  rooms: Pick<Rooms, 'openToNumber'>
}

/** Reason why a visitor who has only the number of a room may not enter. */
export interface NumberRefusal {
  /**
   * Refusal shown to the visitor. It is identical for a missing room, a closed room, and a room that requires more than
   * its number.
   */
  refusal: Extract<RoomRefusal, 'unauthorised' | 'locked'>
  /** Reason shown only to the operator. */
  reason: string
}

/** Returns why the number of a room is not enough to enter it now; undefined: it is enough. O(1). */
export function refusalByNumber(
  { store, rooms }: EntryByNumberDependencies,
  roomId: string,
): NumberRefusal | undefined {
  const room = store.get('rooms', roomId)
  if (room === undefined) return { refusal: 'unauthorised', reason: 'there is no such room' }
  if (!rooms.openToNumber(room)) return { refusal: 'unauthorised', reason: 'the number of this room does not open it' }
  if (room.closed) return { refusal: 'unauthorised', reason: 'the room is closed' }
  return room.locked ? { refusal: 'locked', reason: 'the room is locked' } : undefined
}

/** Response to a visitor who must receive no information about a room. */
export const unknownRoom: RoomLook = { by_number: false, host_password: false, topic: '' }

/** Returns when a scheduled room opens; undefined: it is open, or is not scheduled to open. O(1). */
export function openingOf(room: StoredRoom | undefined, now: number): RoomLook['opening'] {
  if (room?.schedule === undefined || room.closed) return undefined
  const { opensAt, next } = hoursOf(room.schedule, room.schedule_mark, now)
  return opensAt === 0 || next === undefined ? undefined : { opensAt, startsAt: next.start }
}

/** Maximum number of names shown before a visitor joins. */
const maxNames = 12

/**
 * Returns information about a room for a visitor before joining: a stranger, or the holder of a link verified by the
 * node. Does not open the room. A failed lookup may be a guess, and is therefore reported to the observer.
 * @param at milliseconds since the epoch
 */
export function lookAtRoom(
  dependencies: EntryByNumberDependencies & { observer: RequestObserver; presence: Pick<PresenceView, 'usersOf'> },
  { roomId, client, role }: LookedRoom,
  at = Date.now(),
): RoomLook {
  const refused = refusalByNumber(dependencies, roomId)
  const room = dependencies.store.get('rooms', roomId)
  const opening = openingOf(room, at)
  const linked = role !== undefined && room !== undefined ? { people: peopleIn(dependencies.presence, room, role) } : {}
  const facts = { topic: room?.topic ?? '', ...(opening === undefined ? {} : { opening }), ...linked }
  if (refused === undefined || refused.refusal === 'locked') {
    return { by_number: true, host_password: room?.host_password_sealed !== '', ...facts }
  }
  if (role !== undefined && room === undefined) return { ...unknownRoom, refusal: 'deleted' }
  if (role !== undefined) return { by_number: false, host_password: false, ...facts }
  dependencies.observer.observe({
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

/** Returns the people in a room for the holder of a link. Includes names only if the link admits its holder now. */
function peopleIn(
  presence: Pick<PresenceView, 'usersOf'>,
  room: StoredRoom,
  role: NonNullable<LookedRoom['role']>,
): RoomLook['people'] {
  const people = presence.usersOf(room.room_id).filter(({ device }) => !device)
  const mustWait = room.waiting_room === true && role !== 'host'
  if (room.locked || mustWait) return { count: people.length }
  return { count: people.length, names: people.slice(0, maxNames).map(({ userName }) => userName) }
}
