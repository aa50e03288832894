import { takeIn } from '../state/arrivals.ts'
import type { NodeUser } from '../../port/media-node-port.ts'
import type { PlacementContext } from '../state/placement-context.ts'
import type { RoomPlacement } from './room-placement.ts'

/** Answer of a node about the people of one of its rooms. */
interface UsersAnswer {
  node: string
  roomId: string
  users: readonly NodeUser[]
  /** Users whose changes the node reported during the request: the reports are at least as new as its answer. */
  heard: ReadonlySet<string>
}

/** Takes the node's answer as presence there, and reports everybody who came or went without an event. */
function settlePresence(context: PlacementContext, { node, roomId, users, heard }: UsersAnswer): void {
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

/** How the users of a room are asked for. */
interface PresenceRead {
  /** @throws what the call to the node throws */
  ask: () => Promise<readonly NodeUser[]>
  /** The node is still to hold the room, as it was when it was asked. */
  isStill: () => boolean
}

/** Asks a node who is in one of its rooms, and makes presence that. @throws what `ask` throws */
export async function readPresence(
  context: PlacementContext,
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
