import type {
  GuessKind,
  ReportParams,
  RoomLook,
  RoomProof,
  RoomRefusal,
} from '../../shared/media/controller-methods.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import { ApiError, type ErrorName, retOf, success } from '../../shared/result-codes.ts'
import { visitNames } from '../../shared/room-entry.ts'
import { sameSecret } from '../edge/same-secret.ts'
import type { LookedRoom, RoomAnswer, WantedRoom } from '../nodes/embedded/embedded-media-options.ts'
import type { GatewayRooms } from '../nodes/gateway/gateway-rooms.ts'
import type { PresenceView } from '../nodes/pool/state/presence.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import type { RequestObserver } from '../observe/observation.ts'
import { hoursOf } from '../schedule/room-hours.ts'
import type { StoredNode, StoredRoom } from '../store/records.ts'
import type { JoinLinks } from './join-links.ts'
import type { Rooms } from './room-lifecycle.ts'

interface WantedRoomDependencies {
  store: {
    get(collection: 'rooms', key: string): StoredRoom | undefined
    get(collection: 'nodes', key: string): StoredNode | undefined
  }
  rooms: Pick<Rooms, 'get' | 'hostPassword' | 'assign' | 'openToNumber'>
  joinLinks: Pick<JoinLinks, 'nodeUrl'>
  /** Rooms whose page one node serves while their media is on another node. */
  gateway: Pick<GatewayRooms, 'isRemote' | 'open'>
  /** Records each visit, because a visit may be a guess. */
  observer: RequestObserver
  logger: NodeLogger
}

/**
 * Opens a room on an embedded node for a visitor with a link, the host password or the number of the room. The node has
 * already verified a link; this function verifies a password or a number. Assigns a node to the room as get_mcu does.
 * @param node name of the visitor's node
 * @returns `refusal` null if the room is open on this node; `elsewhere` with the URL of the room's node; otherwise the
 * reason. Never rejects.
 */
export async function openWantedRoom(
  dependencies: WantedRoomDependencies,
  wanted: WantedRoom,
  node: string,
): Promise<RoomAnswer> {
  const began = performance.now()
  const at = Date.now()
  let unproven: Unproven | undefined
  let verdict: RoomRefusal | null = null
  let url: string | undefined
  let opening: RoomAnswer['opening']
  let problem: ApiError | undefined
  try {
    unproven = judge(dependencies, wanted.roomId, wanted.proof)
    if (unproven === undefined) url = await openOnNode(dependencies, wanted.roomId, node)
    verdict = unproven?.refusal ?? (url === undefined ? null : 'elsewhere')
  } catch (error) {
    if (!(error instanceof ApiError)) dependencies.logger.error({ err: error }, 'a room was not opened for a visitor')
    problem = error instanceof ApiError ? error : new ApiError('internal')
    opening = problem.code === 'roomClosed' ? openingOf(dependencies.store.get('rooms', wanted.roomId), at) : undefined
    if (opening !== undefined) verdict = 'notOpenYet'
    else verdict = problem.code === 'roomNotFound' || problem.code === 'roomClosed' ? 'noRoom' : 'busy'
  }
  const wrong =
    unproven === undefined
      ? problem
      : new ApiError('authenticationFailed', { refusal: refusal(unproven.name), reason: unproven.reason })
  dependencies.observer.observe({
    at,
    api: 'media',
    operation: visitNames.enterRoom,
    method: 'GET',
    path: '/signal',
    ret: wrong === undefined ? success : (retOf('media', wrong.code) ?? retOf('media', 'internal') ?? 0),
    duration: performance.now() - began,
    client: wanted.client,
    credential: '',
    room: wanted.roomId,
    params: new Map(),
    msg: wrong?.message ?? '',
    reason: unproven?.reason ?? '',
  })
  return {
    refusal: verdict,
    ...(url === undefined ? {} : { url }),
    ...(opening === undefined ? {} : { opening }),
  }
}

/** Refusal of a visitor whose proof is not sufficient. */
interface Unproven {
  refusal: RoomRefusal
  name: 'linkRequired' | 'roomLocked' | 'hostPasswordWrong'
  reason: string
}

const refusalNames = { unauthorised: 'linkRequired', locked: 'roomLocked' } as const satisfies Record<
  NumberRefusal['refusal'],
  Unproven['name']
>

/** Checks a proof; undefined: it is sufficient. */
function judge(dependencies: WantedRoomDependencies, roomId: string, proof: RoomProof): Unproven | undefined {
  if (proof.by === 'link') return undefined
  if (proof.by === 'password') {
    if (isHostPassword(dependencies, roomId, proof.password)) return undefined
    return { refusal: 'hostPasswordWrong', name: 'hostPasswordWrong', reason: '' }
  }
  const refused = refusalByNumber(dependencies, roomId)
  // A lock applies only to visitors who were not in the room before.
  if (refused?.refusal === 'locked' && proof.was_in === true) return undefined
  return refused === undefined ? undefined : { ...refused, name: refusalNames[refused.refusal] }
}

/**
 * Whether the password is the room's host password. The check takes the same time for a missing room and for a room
 * without a password.
 */
function isHostPassword({ store, rooms }: WantedRoomDependencies, roomId: string, given: string): boolean {
  const room = store.get('rooms', roomId)
  const expected = room === undefined ? '' : rooms.hostPassword(room)
  const same = sameSecret(expected, given)
  return same && expected !== ''
}

/**
 * Assigns a node to the room, and opens it there. @returns the URL of the room's node if it is not `node`; otherwise
 * undefined
 */
async function openOnNode(
  { store, rooms, joinLinks, gateway }: WantedRoomDependencies,
  roomId: string,
  node: string,
): Promise<string | undefined> {
  const assigned = await rooms.assign(roomId)
  if (gateway.isRemote(assigned)) {
    await gateway.open(node, rooms.get(roomId))
    return undefined
  }
  if (store.get('nodes', assigned)?.kind !== 'embedded') {
    throw new ApiError('noNode', { refusal: refusal('roomNotEmbedded') })
  }
  return assigned === node ? undefined : joinLinks.nodeUrl(roomId)
}

interface EntryByNumberDependencies {
  store: { get(collection: 'rooms', key: string): StoredRoom | undefined }
  rooms: Pick<Rooms, 'openToNumber'>
}

/** Reason why a visitor who has only the number of a room may not enter. */
interface NumberRefusal {
  /**
   * Refusal shown to the visitor. It is identical for a missing room, a closed room, and a room that requires more than
   * its number.
   */
  refusal: Extract<RoomRefusal, 'unauthorised' | 'locked'>
  /** Reason shown only to the operator. */
  reason: string
}

/** Returns why the number of a room is not enough to enter it now; undefined: it is enough. O(1). */
function refusalByNumber({ store, rooms }: EntryByNumberDependencies, roomId: string): NumberRefusal | undefined {
  const room = store.get('rooms', roomId)
  if (room === undefined) return { refusal: 'unauthorised', reason: 'there is no such room' }
  if (!rooms.openToNumber(room)) return { refusal: 'unauthorised', reason: 'the number of this room does not open it' }
  if (room.closed) return { refusal: 'unauthorised', reason: 'the room is closed' }
  return room.locked ? { refusal: 'locked', reason: 'the room is locked' } : undefined
}

/** Response to a visitor who must receive no information about a room. */
export const unknownRoom: RoomLook = { by_number: false, host_password: false, topic: '' }

/** Returns when a scheduled room opens; undefined: it is open, or is not scheduled to open. O(1). */
function openingOf(room: StoredRoom | undefined, now: number): RoomLook['opening'] {
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

/** Report of a node about rejected guesses. */
export type RefusedGuesses = ReportParams<'guesses'>

const guessErrors: Record<GuessKind, { error: ErrorName; msg: string }> = {
  badLink: { error: 'tokenIncorrect', msg: 'The join link is not valid or has expired.' },
  hostPasswordWrong: { error: 'authenticationFailed', msg: 'The host password is wrong.' },
  tooMany: { error: 'tooManyFailures', msg: 'Too many attempts from this address: wait a minute.' },
}

/**
 * Records guesses that the embedded node rejected in the activity: one entry for all guesses of one address within a
 * second.
 */
export function observeGuesses(observer: RequestObserver, { groups, more }: RefusedGuesses): void {
  const at = Date.now()
  const visit = { at, api: 'media', operation: visitNames.enterRoom, duration: 0, credential: '' } as const
  const params = new Map<string, unknown>()
  for (const { kind, path, client, roomId, count } of groups) {
    const { error, msg } = guessErrors[kind]
    observer.observe({
      ...visit,
      params,
      method: path === '/signal' || path === '/entry' ? 'GET' : 'POST',
      path,
      ret: retOf('media', error) ?? success,
      client,
      room: roomId,
      msg,
      reason: count === 1 ? '' : `${count} attempts within a second`,
    })
  }
  if (more === 0) return
  observer.observe({
    ...visit,
    params,
    method: '',
    path: '',
    ret: retOf('media', guessErrors.tooMany.error) ?? success,
    client: '',
    room: '',
    msg: 'Too many attempts from many addresses.',
    reason: `${more} attempts within a second`,
  })
}
