import type { Settings } from '../../../../shared/settings.ts'
import type { Store } from '../../../store/store.ts'
import type { NodeLogger } from '../../port/node-failure.ts'
import { PoolEvents } from '../../port/pool-events.ts'
import { ExpectedUsers } from './expected-users.ts'
import type { LiveNode } from './live-node.ts'
import { NodeDrift } from './node-drift.ts'
import { PoolLifetime } from './pool-lifetime.ts'
import { Presence } from './presence.ts'
import { RoomIndex } from './room-nodes.ts'

/** State that the parts of the node pool share. */
export interface PoolContext {
  store: Store
  deadlines: () => Settings['deadlines']
  clock: () => number
  /** Returns milliseconds of a monotonic clock. */
  now: () => number
  logger: NodeLogger
  events: PoolEvents
  lifetime: PoolLifetime
  presence: Presence
  index: RoomIndex
  expected: ExpectedUsers
  drift: NodeDrift
  /** Enabled nodes by name. */
  live: Map<string, LiveNode>
}

export interface PoolContextOptions {
  store: Store
  /** Current settings; read at each use. */
  settings: () => Settings
  logger: NodeLogger
  /** Returns milliseconds since the epoch. */
  clock?: () => number
  /**
   * Returns milliseconds of a monotonic clock, for the history of nodes and expected users. Default: `performance.now`;
   * tests replace it.
   */
  now?: () => number
}

/** Returns the state of a pool that was not started. */
export function poolContext(options: PoolContextOptions): PoolContext {
  const { store, settings, logger, clock = Date.now, now = () => performance.now() } = options
  const events = new PoolEvents(logger)
  return {
    store,
    deadlines: () => settings().deadlines,
    clock,
    now,
    logger,
    events,
    lifetime: new PoolLifetime(),
    presence: new Presence(),
    index: new RoomIndex(store.all('rooms')),
    expected: new ExpectedUsers(now),
    drift: new NodeDrift(events, clock),
    live: new Map(),
  }
}
