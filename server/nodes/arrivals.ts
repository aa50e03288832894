import type { NodeUser } from './media-node.ts'
import { describeFailure } from './node-failure.ts'
import type { PoolContext } from './pool-context.ts'

/**
 * Somebody is in a room on that node, by its own word: presence follows, and everybody hears of it. A user is on one node of a room: of two stays the one that began later
 * counts, and the other one ends. A device is on the room's own node only.
 */
export function takeIn(context: PoolContext, node: string, { roomId, user }: { roomId: string; user: NodeUser }): void {
  const { presence, events, expected, index } = context
  const known = presence.stay(roomId, user.userId)
  const isElsewhere = known !== undefined && known.node !== node && index.nodesOf(roomId).includes(known.node)
  if ((user.device && index.isBranch(roomId, node)) || (isElsewhere && known.user.joinedAt > user.joinedAt)) {
    return takeOff(context, { node, roomId, user })
  }
  // The same stay, changed: a member became host. The order of the room stays.
  if (presence.change(node, roomId, user)) return events.emit({ type: 'joined', name: node, roomId, user })
  if (known !== undefined) {
    presence.leave(roomId, user.userId)
    events.emitDepartures(known.node, [{ roomId, user: known.user }])
  }
  presence.join(node, roomId, user)
  expected.came(roomId, node)
  events.emit({ type: 'joined', name: node, roomId, user })
  if (isElsewhere) takeOff(context, { node: known.node, roomId, user: known.user })
}

/** Somebody on a node of their room where they do not belong any more. */
export interface Stray {
  node: string
  roomId: string
  user: Pick<NodeUser, 'userId' | 'device'>
}

/**
 * Takes somebody off a node of their room who is not to be there: a person who came in on another node since, or a device on a node that is a branch of its room. In the background:
 * where that fails, the node is asked for its users again later. Nobody is told: for the rest of the controller they left already.
 */
export function takeOff(context: PoolContext, { node: name, roomId, user: { userId, device } }: Stray): void {
  const { live, presence, deadlines, logger } = context
  const node = live.get(name)
  // They may be back by the time the node is asked.
  const isStray = (): boolean => presence.stay(roomId, userId)?.node !== name
  if (!node?.serving || !isStray()) return
  node
    .ask(deadlines().node_ms, undefined, async (driver, signal) => {
      if (device) await driver.removeDevice(roomId, userId, signal)
      else await driver.displace?.(roomId, userId, signal)
    })
    .catch((error: unknown) => {
      node.placement.recheck(roomId)
      const fields = { node: name, room: roomId, error: describeFailure(error) }
      logger.info(fields, 'somebody who is on another node of their room now could not be taken off this one yet')
    })
}
