import type { NodeConfig } from '../../../shared/node.ts'
import { type Refusal, refusal } from '../../../shared/refusals/refusal.ts'
import type { Settings } from '../../../shared/settings.ts'

/** Fields of a node that determine its port. */
type Placed = Pick<NodeConfig, 'name' | 'kind' | 'port'>

/**
 * Returns the reason why a node cannot use its port together with the other nodes of the site; undefined if it can.
 * Each embedded node is a process with a separate port. One of them may use the node port of the settings.
 * @param others may include the node itself, by its name
 */
export function portProblem(node: Placed, others: Iterable<Placed>): Refusal | undefined {
  if (node.kind !== 'embedded') return node.port === 0 ? undefined : refusal('nodePortUnused')
  for (const other of others) {
    if (other.kind !== 'embedded' || other.name === node.name || other.port !== node.port) continue
    return node.port === 0
      ? refusal('nodePortShared', { name: other.name })
      : refusal('nodePortOfNode', { port: node.port, name: other.name })
  }
  return undefined
}

/**
 * Returns the ports in a site's settings and nodes, whether they are in use or not. Ports of nodes on other machines
 * are included, because avoiding them has no disadvantage.
 */
export function namedPorts(
  { listeners, media }: Pick<Settings, 'listeners' | 'media'>,
  nodes: Iterable<Pick<NodeConfig, 'port' | 'addresses'>>,
): number[] {
  const { media_port, device_port, node_port, console_port, event_port } = listeners
  const ofNodes = [...nodes].flatMap(({ port, addresses }) => [
    port,
    ...addresses.map(({ addr }) => Number(addr.slice(addr.lastIndexOf(':') + 1))),
  ])
  const named = [media_port, device_port, node_port, console_port, event_port ?? 0, media.udp_port, ...ofNodes]
  return named.filter((port) => port > 0)
}

/**
 * Returns the port of a node after a change of its configuration. A further embedded node keeps its port unless the
 * configuration sets another one.
 * @param before stored record; undefined: the node is new
 */
export function portAfter(node: Placed, before: Placed | undefined): number {
  return node.kind === 'embedded' && node.port === 0 && before?.kind === 'embedded' ? before.port : node.port
}

/** Returns the reason why a node's port cannot be changed; undefined if it can. */
export function movedPortProblem(node: Placed, before: Placed): Refusal | undefined {
  if (before.kind !== 'embedded' || before.port !== 0 || node.port === 0) return undefined
  return refusal('nodePortFixed')
}
