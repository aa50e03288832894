import type { StoredNode } from '../../store/records.ts'
import { within } from '../port/deadline.ts'
import {
  type ConnectionTest,
  makeDriver,
  type NodeDrivers,
  type NodeInspection,
  type NodeInspections,
} from '../port/node-driver.ts'
import { describeFailure } from '../port/node-failure.ts'
import type { PoolEventSource } from '../port/pool-events.ts'
import type { RemovalsPort } from '../port/removals-port.ts'
import { Assigner } from './choice/assigner.ts'
import { CallerNodes } from './choice/caller-nodes.ts'
import { Drainer } from './choice/drainer.ts'
import { Eligibility } from './choice/choose-node.ts'
import { Relocation } from './choice/relocation.ts'
import { SecondaryUpkeep } from './choice/secondary-upkeep.ts'
import { PoolFollowing } from './pool-following.ts'
import { RoomCalls } from './room-calls.ts'
import { type DefaultAddress, NodeAnnouncements, SiteNodes } from './site-nodes.ts'
import type { NodeDrift } from './state/node-drift.ts'
import { type PoolContext, poolContext, type PoolContextOptions } from './state/pool-context.ts'
import type { PresenceView } from './state/presence.ts'
import type { RoomIndex } from './state/room-nodes.ts'

/** Default time for which an empty secondary node is kept, in milliseconds, because people often return. */
const defaultSecondaryIdleMs = 60_000

export interface NodePoolOptions extends PoolContextOptions {
  drivers: NodeDrivers
  /** Inspections for the connection test, by kind of node. Other kinds are polled once. */
  inspections?: NodeInspections
  /** Time for which an empty secondary node of a room is kept, in milliseconds. */
  secondaryIdleMs?: number
  /** Removals of the site; left out: there are none. */
  removals?: Pick<RemovalsPort, 'remove'> | undefined
  defaultAddress?: DefaultAddress
}

/**
 * All media nodes of the site. Starts and stops the nodes, and gives access to the parts of the pool. Look-ups are O(1)
 * in rooms and users.
 */
export class NodePool {
  readonly events: PoolEventSource
  /** Users in the rooms, as the nodes reported them. */
  readonly presence: PresenceView
  /** Nodes of each room, as stored. */
  readonly index: Pick<RoomIndex, 'nodesOf' | 'roomsOnSeveralNodes'>
  /** The nodes: states, addresses, drivers. */
  readonly nodes: SiteNodes
  /** Chooses a node of a room for a caller. */
  readonly callerNodes: CallerNodes
  /** Assigns the primary node of a room, which has its devices. */
  readonly assigner: Pick<Assigner, 'assign'>
  /** Calls to the nodes of a room. */
  readonly calls: RoomCalls
  readonly relocation: Pick<Relocation, 'moved'>
  readonly drainer: Pick<Drainer, 'set'>
  /** Deviations found since the start. */
  readonly drift: Pick<NodeDrift, 'counts'>

  readonly #options: NodePoolOptions
  readonly #context: PoolContext
  readonly #following: PoolFollowing
  readonly #upkeep: SecondaryUpkeep
  /** Stops the parts that work in the background. */
  readonly #background: { stop(): void }[]

  constructor(options: NodePoolOptions) {
    const { drivers, removals, defaultAddress, secondaryIdleMs = defaultSecondaryIdleMs } = options
    const context = poolContext(options)
    const announcements = new NodeAnnouncements(context)
    const eligibility = new Eligibility(context)
    const assigner = new Assigner(context, eligibility)
    const relocation = new Relocation(context, assigner)
    const drainer = new Drainer(context, eligibility, relocation)
    const upkeep = new SecondaryUpkeep({ context, eligibility, relocation, idleMs: secondaryIdleMs })
    this.#options = options
    this.#context = context
    this.#following = new PoolFollowing({ context, drivers, eligibility, relocation, drainer, upkeep, announcements })
    this.#upkeep = upkeep
    this.#background = [this.#following, drainer, relocation, upkeep]
    this.events = context.events
    this.presence = context.presence
    this.index = context.index
    this.drift = context.drift
    this.nodes = new SiteNodes(context, announcements, defaultAddress)
    this.callerNodes = new CallerNodes(context, { eligibility, assigner, upkeep })
    this.assigner = assigner
    this.calls = new RoomCalls(context, { relocation, removals })
    this.relocation = relocation
    this.drainer = drainer
  }

  /**
   * Takes the stored nodes into service. Resolves when the first poll of each node has ended or its deadline has
   * passed.
   */
  start(): Promise<void> {
    this.#upkeep.start()
    return this.#following.roster.start()
  }

  /** Stops the pool. External nodes keep their rooms. */
  async stop(): Promise<void> {
    this.#context.lifetime.end()
    for (const part of this.#background) part.stop()
    await this.#following.roster.stop()
  }

  /** Tests a configuration without adding it. */
  testConnection(config: StoredNode): Promise<ConnectionTest> {
    const { drivers, inspections = {} } = this.#options
    return testNode(drivers, inspections, config, this.#context)
  }
}

const nothingFound: NodeInspection = { version: '', plugins: [], findings: [] }

/**
 * Inspects a node if its kind supports that. Otherwise creates a driver for it, polls it once with the deadline, and
 * closes the driver. Never rejects.
 */
async function testNode(
  drivers: NodeDrivers,
  inspections: NodeInspections,
  config: StoredNode,
  context: Pick<PoolContext, 'deadlines' | 'logger'>,
): Promise<ConnectionTest> {
  const startedAt = performance.now()
  const elapsed = (): number => Math.round(performance.now() - startedAt)
  const inspect = inspections[config.kind]
  if (inspect !== undefined) return { ...verdictOn(await inspect(config)), milliseconds: elapsed() }
  return { ...(await pollOnce(drivers, config, context)), ...nothingFound, milliseconds: elapsed() }
}

function verdictOn(inspection: NodeInspection): Omit<ConnectionTest, 'milliseconds'> {
  const { findings, version } = inspection
  const [worst] = findings
  if (worst?.severity === 'error') return { ...inspection, ok: false, message: worst.message }
  const count = findings.length === 0 ? 'nothing to mend was found' : `${findings.length} things to mend were found`
  return { ...inspection, ok: true, message: `The node answers: version ${version}, ${count}.` }
}

async function pollOnce(
  drivers: NodeDrivers,
  config: StoredNode,
  { deadlines, logger }: Pick<PoolContext, 'deadlines' | 'logger'>,
): Promise<Pick<ConnectionTest, 'ok' | 'message'>> {
  const driver = makeDriver(drivers, config, logger)
  try {
    const health = await within({ milliseconds: deadlines().health_ms }, (signal) => driver.health(signal))
    const message = `The node answers: ${health.rooms} rooms, ${health.users} users.`
    return { ok: true, message }
  } catch (error) {
    const message = describeFailure(error)
    logger.info({ node: config.name, err: error }, 'a trial connection to a node failed')
    return { ok: false, message }
  } finally {
    within({ milliseconds: deadlines().shutdown_ms }, () => driver.close()).catch((error: unknown) =>
      logger.warn({ node: config.name, err: error }, 'the driver of a trial connection did not close'),
    )
  }
}
