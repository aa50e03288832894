import type { Settings } from '../../shared/settings.ts'
import type { StoredRoom } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import type { NodeLogger } from './node-failure.ts'
import type { PoolEvents } from './pool-events.ts'
import type { PoolNode } from './pool-node.ts'
import type { Presence } from './presence.ts'
import type { RoomIndex } from './placement/room-index.ts'

/** What the parts of the node pool share. */
export interface PoolContext {
  store: Store
  deadlines: () => Settings['deadlines']
  clock: () => number
  logger: NodeLogger
  events: PoolEvents
  presence: Presence
  index: RoomIndex
  /** Enabled nodes by name. */
  live: Map<string, PoolNode>
}

/** The room as stored, when the node must hold it: it is assigned to the node and not closed. */
export function roomHeldBy(context: PoolContext, node: PoolNode, roomId: string): StoredRoom | undefined {
  const room = context.store.get('rooms', roomId)
  return room?.node === node.name && !room.closed ? room : undefined
}
