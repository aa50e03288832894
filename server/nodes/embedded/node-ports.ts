import type { NodeConfig } from '../../../shared/node.ts'
import { type Refusal, refusal } from '../../../shared/refusals/refusal.ts'
import type { Settings } from '../../../shared/settings.ts'

/** Fields of a node that decide on its port. */
type Placed = Pick<NodeConfig, 'name' | 'kind' | 'port'>

/**
 * Why a node cannot have its port beside the others of the site; undefined when it can. Each embedded node is a process with a port of its own;
 * one of them may be at the node port of the settings.
 * @param others one of the same name is the node itself
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

/** Ports that a site's settings and nodes name, whether something listens there now or not. Those of nodes on other machines are among them: avoiding them costs nothing. */
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
 * Port of a node after a change of its configuration. A further embedded node keeps its port unless the configuration names another one.
 * @param before as it is stored; undefined: it is new
 */
export function portAfter(node: Placed, before: Placed | undefined): number {
  return node.kind === 'embedded' && node.port === 0 && before?.kind === 'embedded' ? before.port : node.port
}

/** Why a node's port cannot become this one; undefined when it can. */
export function movedPortProblem(node: Placed, before: Placed): Refusal | undefined {
  if (before.kind !== 'embedded' || before.port !== 0 || node.port === 0) return undefined
  return refusal('nodePortFixed')
}
