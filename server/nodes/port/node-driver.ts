import type { NodeFinding } from '../../../shared/domain/node-findings.ts'
import type { NodeKind } from '../../../shared/node.ts'
import type { StoredNode } from '../../store/records.ts'
import { sealingOf } from '../../store/sealer.ts'
import { type MediaNode, NodeConnectionError } from './media-node-port.ts'
import type { NodeLogger } from './node-failure.ts'

/**
 * Creates the driver of one node.
 * @throws NodeError if the configuration is invalid
 */
type NodeDriver = (config: StoredNode) => MediaNode
/** The drivers available in this controller. */
export type NodeDrivers = Partial<Record<NodeKind, NodeDriver>>

/** Result of a trial connection. */
export interface ConnectionTest {
  ok: boolean
  /** One plain sentence. */
  message: string
  milliseconds: number
  /** Version of the program that answers, e.g. `1.1.2`; empty if it reports none. */
  version: string
  plugins: string[]
  /** Faults and unsafe settings, the most severe first. */
  findings: NodeFinding[]
}

export type NodeInspection = Pick<ConnectionTest, 'version' | 'plugins' | 'findings'>

/** Inspects nodes of a kind without a driver. Never rejects. */
export type NodeInspections = Partial<Record<NodeKind, (config: StoredNode) => Promise<NodeInspection>>>

/**
 * Returns the driver of a stored node. If the driver cannot be created, returns a driver whose calls all reject with
 * the reason.
 */
export function makeDriver(drivers: NodeDrivers, config: StoredNode, logger: NodeLogger): MediaNode {
  const make = drivers[config.kind]
  if (make === undefined) return unavailable(`there is no driver for nodes of kind ${config.kind} here`)
  try {
    return make(config)
  } catch (error) {
    logger.error({ node: config.name, err: error }, 'the driver of a node could not be made')
    return unavailable(error instanceof Error ? error.message : 'its driver could not be made')
  }
}

/** Whether nodes of each kind carry media. */
const carriesMediaByKind: Readonly<Record<NodeKind, boolean>> = { embedded: true, janus: true, simulated: false }

/** Returns whether the node carries the media of people and devices. */
export function carriesMedia({ kind }: Pick<StoredNode, 'kind'>): boolean {
  return carriesMediaByKind[kind]
}

/** Returns whether the node is a separate program that continues while the controller is down. */
export function outlivesController({ kind }: StoredNode): boolean {
  return kind === 'janus'
}

/** Fields that can change without a new driver, because the pool reads them at each use. */
const readAtUse: ReadonlySet<string> = new Set([
  'enabled',
  'draining',
  'drain',
  'addresses',
  'idc_code',
  'weight',
  'max_rooms',
  'max_users',
  'created_at',
])

/** Returns whether a node needs a new driver after its record changed. */
export function needsNewDriver(before: StoredNode, after: StoredNode): boolean {
  return whatTheDriverReads(before) !== whatTheDriverReads(after)
}

function whatTheDriverReads(config: StoredNode): string {
  return JSON.stringify(
    Object.entries({ ...config, secrets_sealed: sealingOf(config.secrets_sealed) })
      .filter(([field]) => !readAtUse.has(field))
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  )
}

function unavailable(why: string): MediaNode {
  const refuse = (): Promise<never> => Promise.reject(new NodeConnectionError(why))
  return {
    openRoom: refuse,
    closeRoom: refuse,
    users: refuse,
    kick: refuse,
    addDevice: refuse,
    removeDevice: refuse,
    rooms: refuse,
    health: refuse,
    onEvent: () => () => undefined,
    close: () => Promise.resolve(),
  }
}
