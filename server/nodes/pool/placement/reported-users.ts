import { Deadline } from '../../../../shared/deadline.ts'
import type { NodeUser } from '../../port/media-node-port.ts'
import { describeFailure } from '../../port/node-failure.ts'
import type { PoolContext } from '../state/pool-context.ts'
import type { RoomPlacement } from './room-placement.ts'

/**
 * Adds a user reported by a node to presence, and emits the event. A user is on one node of a room: if there are two
 * participant sessions, the earlier one is ended. A device is only on the room's primary node.
 */
export function takeIn(context: PoolContext, node: string, { roomId, user }: { roomId: string; user: NodeUser }): void {
  const { presence, events, expected, index } = context
  const known = presence.sessionOf(roomId, user.userId)
  const isOnOtherNode = known !== undefined && known.node !== node && index.nodesOf(roomId).includes(known.node)
  if ((user.device && index.isSecondary(roomId, node)) || (isOnOtherNode && known.user.joinedAt > user.joinedAt)) {
    return removeStray(context, { node, roomId, user })
  }
  // The data of the same participant session changed, e.g. a member became host. The order of the room stays.
  if (presence.change(node, roomId, user)) return events.emit({ type: 'joined', name: node, roomId, user })
  if (known !== undefined) {
    presence.leave(roomId, user.userId)
    events.emitDepartures(known.node, [{ roomId, user: known.user }])
  }
  presence.join(node, roomId, user)
  expected.came(roomId, node)
  events.emit({ type: 'joined', name: node, roomId, user })
  if (isOnOtherNode) removeStray(context, { node: known.node, roomId, user: known.user })
}

/** A user on a node of their room on which they should no longer be. */
interface Stray {
  node: string
  roomId: string
  user: Pick<NodeUser, 'userId' | 'device'>
}

/**
 * Removes a user from a node on which they should not be. Such a user is a person who has since joined on another node
 * of the room, or a device on a secondary node. Works in the background; after a failure, the node's users are read
 * again later. Sends no events, because for the rest of the controller the user has already left.
 */
export function removeStray(context: PoolContext, { node: name, roomId, user: { userId, device } }: Stray): void {
  const { live, presence, deadlines, logger } = context
  const node = live.get(name)
  // The user may have returned before the request is sent.
  const isStray = (): boolean => presence.sessionOf(roomId, userId)?.node !== name
  if (!node?.serving || !isStray()) return
  node
    .ask(Deadline.in(deadlines().node_ms), async (driver, signal) => {
      if (device) await driver.removeDevice(roomId, userId, signal)
      else await driver.displace?.(roomId, userId, signal)
    })
    .catch((error: unknown) => {
      node.placement.recheck(roomId)
      const fields = { node: name, room: roomId, error: describeFailure(error) }
      logger.info(fields, 'a user who moved could not be removed from the former node yet')
    })
}

/** Answer of a node about the users of one of its rooms. */
interface UsersAnswer {
  node: string
  roomId: string
  users: readonly NodeUser[]
  /** Users whose changes the node reported during the request. These reports are at least as new as the answer. */
  heard: ReadonlySet<string>
}

/** Applies the node's answer to presence, and reports users who joined or left without an event. */
function settlePresence(context: PoolContext, { node, roomId, users, heard }: UsersAnswer): void {
  const { presence, events } = context
  const present = new Map(users.map((user) => [user.userId, user]))
  for (const known of presence.usersAt(roomId, node)) {
    const now = present.get(known.userId)
    if (heard.has(known.userId) || now?.joinedAt === known.joinedAt) continue
    presence.leave(roomId, known.userId)
    events.emitDepartures(node, [{ roomId, user: known }], now === undefined ? 'The MCU was restarted.' : '')
  }
  for (const user of users) {
    const isKnown = presence.sessionOf(roomId, user.userId)?.node === node
    if (!heard.has(user.userId) && !isKnown) takeIn(context, node, { roomId, user })
  }
}

/** Functions for reading the users of a room. */
interface PresenceRead {
  /**
   * Requests the users.
   * @throws the error of the call to the node
   */
  ask: () => Promise<readonly NodeUser[]>
  /** Returns whether the room is still the one of the request, and still assigned to the node. */
  isStill: () => boolean
}

/**
 * Reads the users of a room from a node, and updates presence.
 * @throws the error of `ask`
 */
export async function readPresence(
  context: PoolContext,
  place: Pick<UsersAnswer, 'node' | 'roomId'>,
  room: RoomPlacement,
  { ask, isStill }: PresenceRead,
): Promise<void> {
  const heard = new Set<string>()
  room.heard = heard
  try {
    const users = await ask()
    if (!isStill()) return
    settlePresence(context, { ...place, users, heard })
    room.presenceKnown = true
  } finally {
    room.heard = undefined
  }
}
