import { describeFailure } from '../port/node-failure.ts'
import type { Stray } from './state/placement-context.ts'
import type { PoolContext } from './state/pool-context.ts'

/**
 * Takes somebody off a node of their room who is not to be there: a person who came in on another node since, or a device on a node that is a secondary node of its room. In the background:
 * where that fails, the node is asked for its users again later. Nobody is told: for the rest of the controller they left already.
 */
export function removeStray(context: PoolContext, { node: name, roomId, user: { userId, device } }: Stray): void {
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
