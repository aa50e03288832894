import type { Settings } from '../../../../shared/settings.ts'
import type { Store } from '../../../store/store.ts'
import type { NodeDrift } from './node-drift.ts'
import type { NodeUser } from '../../port/media-node-port.ts'
import type { NodeLogger } from '../../port/node-failure.ts'
import type { PoolEvents } from '../../port/pool-events.ts'
import type { Presence } from './presence.ts'
import type { ExpectedUsers } from './expected-users.ts'
import type { RoomIndex } from './room-index.ts'

/** A user on a node of their room on which they should not be any more. */
export interface Stray {
  node: string
  roomId: string
  user: Pick<NodeUser, 'userId' | 'device'>
}

/** State that the placement of rooms shares with the rest of the pool. */
export interface PlacementContext {
  store: Store
  deadlines: () => Settings['deadlines']
  clock: () => number
  /** Returns milliseconds of a monotonic clock. */
  now: () => number
  logger: NodeLogger
  events: PoolEvents
  presence: Presence
  index: RoomIndex
  expected: ExpectedUsers
  drift: NodeDrift
  /** Removes a stray user from the node in the background. */
  removeStray: (stray: Stray) => void
}
