import type { Settings } from '../../shared/settings.ts'
import type { Store } from '../store/store.ts'
import type { NodeDrift } from './node-drift.ts'
import type { NodeLogger } from './node-failure.ts'
import type { PoolEvents } from './pool-events.ts'
import type { PoolNode } from './pool-node.ts'
import type { Presence } from './presence.ts'
import type { ExpectedUsers } from './choice/expected-users.ts'
import type { RoomIndex } from './placement/room-index.ts'

/** What the parts of the node pool share. */
export interface PoolContext {
  store: Store
  deadlines: () => Settings['deadlines']
  clock: () => number
  /** Milliseconds that only grow. */
  now: () => number
  logger: NodeLogger
  events: PoolEvents
  presence: Presence
  index: RoomIndex
  expected: ExpectedUsers
  drift: NodeDrift
  /** Enabled nodes by name. */
  live: Map<string, PoolNode>
}
