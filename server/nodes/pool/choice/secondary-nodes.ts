import type { StoredRoom } from '../../../store/records.ts'
import type { PoolContext } from '../state/pool-context.ts'
import type { LiveNode } from '../state/live-node.ts'
import type { Eligibility } from './eligibility.ts'

/** So many nodes may hold a room besides its own: each is one more hop for what is watched there. */
export const maxSecondaries = 8

/** The node is over for now: it was removed, disabled or lost. One that is not polled yet may be there. */
export function isGone({ store, live }: Pick<PoolContext, 'store' | 'live'>, name: string): boolean {
  if (store.get('nodes', name)?.enabled !== true) return true
  const node = live.get(name)
  return node !== undefined && (node.leaving || node.health.state === 'offline')
}

/**
 * The secondary node that becomes the room's own node when that one cannot go on: with the most people, the oldest of several. Undefined when the room has no secondary node that works.
 * @param excluded names that are out of the question
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

/** The room's secondary nodes once that node is its own: those that are not over, and the node that was its own before, while people are left on it. */
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
