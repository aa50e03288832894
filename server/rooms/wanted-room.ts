import type { RoomProof, RoomRefusal } from '../../shared/media/controller-methods.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import { ApiError, retOf, success } from '../../shared/result-codes.ts'
import { sameSecret } from '../edge/same-secret.ts'
import type { RoomAnswer, WantedRoom } from '../nodes/embedded/embedded-media-options.ts'
import type { GatewayRooms } from '../nodes/gateway/gateway-rooms.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import type { RequestObserver } from '../observe/observation.ts'
import type { StoredNode, StoredRoom } from '../store/records.ts'
import type { JoinLinks } from './join-links.ts'
import { type NumberRefusal, openingOf, refusalByNumber } from './entry-by-number.ts'
import type { Rooms } from './room-lifecycle.ts'
import { visitNames } from '../../shared/room-entry.ts'

export interface WantedRoomDependencies {
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
    if (unproven === undefined) url = await open(dependencies, wanted.roomId, node)
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

const names = { unauthorised: 'linkRequired', locked: 'roomLocked' } as const satisfies Record<
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
  return refused === undefined ? undefined : { ...refused, name: names[refused.refusal] }
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
async function open(
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
