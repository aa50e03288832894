import { Deadline } from '../../../shared/deadline.ts'
import { describeFailure } from '../port/node-failure.ts'
import type { Stray } from './state/placement-context.ts'
import type { PoolContext } from './state/pool-context.ts'

/**
 * Takes a user off a node of the room where they do not belong: a person who has since joined on another node, or a device on a secondary node. Works in the background: after a
 * failure the node is asked for its users again later. Nobody is notified: for the rest of the controller they have left already.
 */
export function removeStray(context: PoolContext, { node: name, roomId, user: { userId, device } }: Stray): void {
  const { live, presence, deadlines, logger } = context
  const node = live.get(name)
  // They may be back by the time the node is asked.
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
