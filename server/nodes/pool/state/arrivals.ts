import type { NodeUser } from '../../port/media-node-port.ts'
import type { PlacementContext } from './placement-context.ts'

/**
 * Adds a user that a node reported to presence, and emits the event. A user is on one node of a room: if there are two
 * participant sessions, the earlier one is ended. A device is only on the room's primary node.
 */
export function takeIn(
  context: PlacementContext,
  node: string,
  { roomId, user }: { roomId: string; user: NodeUser },
): void {
  const { presence, events, expected, index } = context
  const known = presence.sessionOf(roomId, user.userId)
  const isOnOtherNode = known !== undefined && known.node !== node && index.nodesOf(roomId).includes(known.node)
  if ((user.device && index.isSecondary(roomId, node)) || (isOnOtherNode && known.user.joinedAt > user.joinedAt)) {
    return context.removeStray({ node, roomId, user })
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
  if (isOnOtherNode) context.removeStray({ node: known.node, roomId, user: known.user })
}
