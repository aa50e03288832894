import type { Settings } from '../../../shared/settings.ts'
import type { Store } from '../../store/store.ts'
import type { NodeDrivers } from '../port/node-driver.ts'
import { type NodeLogger, describeFailure } from '../port/node-failure.ts'
import type { NodeInspections } from '../port/node-inspection.ts'
import { PoolEvents } from '../port/pool-events.ts'
import type { RemovalsPort } from '../port/removals-port.ts'
import { Assigner } from './choice/assigner.ts'
import { SecondaryUpkeep } from './choice/secondary-upkeep.ts'
import { CallerNodes } from './choice/caller-nodes.ts'
import { Drainer } from './choice/drainer.ts'
import { Eligibility } from './choice/eligibility.ts'
import { Relocation } from './choice/relocation.ts'
import { NodeAnnouncements } from './node-announcements.ts'
import { NodeRoster } from './node-roster.ts'
import { PoolFollowing } from './pool-following.ts'
import { RoomCalls } from './room-calls.ts'
import { ExpectedUsers } from './state/expected-users.ts'
import { NodeDrift } from './state/node-drift.ts'
import type { PoolContext } from './state/pool-context.ts'
import { Presence } from './state/presence.ts'
import { RoomIndex } from './state/room-index.ts'
import { Deadline } from '../../../shared/deadline.ts'
import type { Stray } from './state/placement-context.ts'
/** Default time for which an empty secondary node is kept, in milliseconds, because people often return. */
const defaultSecondaryIdleMs = 60_000

export interface NodePoolOptions {
  store: Store
  drivers: NodeDrivers
  /** Inspections for the connection test, by kind of node. Other kinds are polled once. */
  inspections?: NodeInspections
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
  /** Time for which an empty secondary node of a room is kept, in milliseconds. */
  secondaryIdleMs?: number
  /** Removals of the site; left out: there are none. */
  removals?: Pick<RemovalsPort, 'remove'> | undefined
  /**
   * Returns `host:port` for an embedded or simulated node without a configured address; empty if there is none.
   * @param port the node's port; 0: the node port
   */
  defaultAddress?: (port: number) => string
}

export interface PoolDependencies {
  context: PoolContext
  announcements: NodeAnnouncements
  assigner: Assigner
  callerNodes: CallerNodes
  calls: RoomCalls
  relocation: Relocation
  drainer: Drainer
  upkeep: SecondaryUpkeep
  roster: NodeRoster
  following: PoolFollowing
}

/** Composes the parts of a node pool. */
export function poolParts(options: NodePoolOptions): PoolDependencies {
  const { settings, secondaryIdleMs = defaultSecondaryIdleMs } = options
  const context = poolContext(options)
  const announcements = new NodeAnnouncements(context)
  const eligibility = new Eligibility(context)
  const assigner = new Assigner(context, eligibility)
  const relocation = new Relocation(context, assigner)
  const drainer = new Drainer(context, eligibility, relocation)
  const upkeep = new SecondaryUpkeep({ context, eligibility, relocation, idleMs: secondaryIdleMs })
  const following: PoolFollowing = new PoolFollowing(context, {
    eligibility,
    relocation,
    drainer,
    upkeep,
    announcements,
    followRecord: (name) => roster.follow(name),
  })
  const roster = new NodeRoster({
    context,
    drivers: options.drivers,
    listener: following,
    announcements,
    closeWithin: () => settings().deadlines.shutdown_ms,
  })
  const callerNodes = new CallerNodes(context, {
    eligibility,
    assigner,
    onSent: (roomId, secondary) => upkeep.used(roomId, secondary),
  })
  const calls = new RoomCalls(context, { moved: (roomId) => relocation.moved(roomId), removals: options.removals })
  return { context, announcements, assigner, callerNodes, calls, relocation, drainer, upkeep, roster, following }
}

function poolContext(options: NodePoolOptions): PoolContext {
  const { store, settings, logger, clock = Date.now, now = () => performance.now() } = options
  const events = new PoolEvents(logger)
  const context: PoolContext = {
    store,
    deadlines: () => settings().deadlines,
    clock,
    logger,
    events,
    drift: new NodeDrift(events, clock),
    presence: new Presence(),
    index: new RoomIndex(store.all('rooms')),
    expected: new ExpectedUsers(now),
    now,
    live: new Map(),
    removeStray: (stray) => removeStray(context, stray),
  }
  return context
}

/**
 * Removes a user from a node on which they should not be. This is a person who has since joined on another node of the
 * room, or a device on a secondary node. Works in the background; after a failure, the node's users are read again
 * later. Sends no events, because for the rest of the controller the user has already left.
 */
function removeStray(context: PoolContext, { node: name, roomId, user: { userId, device } }: Stray): void {
  const { live, presence, deadlines, logger } = context
  const node = live.get(name)
  // They may have returned before the request is sent.
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
