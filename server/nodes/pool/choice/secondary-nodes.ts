import type { StoredRoom } from '../../../store/records.ts'
import type { PoolContext } from '../state/pool-context.ts'
import type { LiveNode } from '../state/live-node.ts'
import type { Eligibility } from './eligibility.ts'

/** Maximum number of secondary nodes of a room. Each secondary node may add a hop to the streams watched on it. */
export const maxSecondaries = 8

/** Returns whether the node is removed, disabled or offline. A node that was not polled yet counts as available. */
export function isGone({ store, live }: Pick<PoolContext, 'store' | 'live'>, name: string): boolean {
  if (store.get('nodes', name)?.enabled !== true) return true
  const node = live.get(name)
  return node !== undefined && (node.leaving || node.health.state === 'offline')
}

/**
 * Returns the secondary node that replaces a failed primary node: the node with the most people, or the oldest of
 * several such nodes. Returns undefined if no secondary node of the room works.
 * @param excluded names of nodes that must not be chosen
 */
export function successorOf(
  { live, presence }: Pick<PoolContext, 'live' | 'presence'>,
  eligibility: Eligibility,
  room: StoredRoom,
  excluded?: ReadonlySet<string>,
): LiveNode | undefined {
  let best: LiveNode | undefined
  let most = -1
  for (const name of room.branches ?? []) {
    const node = live.get(name)
    if (!node?.takesRooms || !eligibility.mayShare(node, room) || excluded?.has(name) === true) continue
    const people = presence.peopleAt(room.room_id, name)
    if (people <= most) continue
    best = node
    most = people
  }
  return best
}

/**
 * Returns the room's secondary nodes after `own` has become its primary node. These are the available secondary nodes,
 * and the previous primary node while people are on it.
 */
export function secondariesBeside(
  context: Pick<PoolContext, 'store' | 'live' | 'presence'>,
  eligibility: Eligibility,
  room: StoredRoom,
  own: LiveNode,
): string[] {
  if (!eligibility.mayShare(own, room)) return []
  const { live, presence } = context
  const before = live.get(room.node)
  const stays = before?.serving && eligibility.mayShare(before, room) && presence.peopleAt(room.room_id, room.node) > 0
  const names = stays ? [room.node, ...(room.branches ?? [])] : (room.branches ?? [])
  return names.filter((name) => name !== own.name && !isGone(context, name))
}
