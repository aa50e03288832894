import { takeIn } from '../state/arrivals.ts'
import type { NodeUser } from '../../port/media-node-port.ts'
import type { PoolContext } from '../state/pool-context.ts'
import type { RoomPlacement } from './room-placement.ts'

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
