import { limits } from '../../../shared/limits.ts'
import { type NodeConfig, nodeConfigSchema } from '../../../shared/node.ts'

/** Number of cores reserved for the controller and the system, so that APIs answer quickly under load. */
const coresLeft = 1
/** Name of the first node, unless there is already a node at the node port. */
const firstName = 'This machine'

/**
 * Returns the number of embedded nodes at which a machine has the largest capacity. A node uses one core for
 * forwarding, so there is one node per core that is not reserved.
 */
export function maxUsefulNodes(cores: number): number {
  return Math.max(1, Math.min(limits.nodes, cores - coresLeft))
}

/**
 * Returns further embedded nodes with unused names. If no node uses the node port, the first returned node does.
 * @param ports one port for each node that does not use the node port
 */
export function proposedNodes(count: number, ports: readonly number[], nodes: Iterable<NodeConfig>): NodeConfig[] {
  const all = [...nodes]
  const embedded = all.filter(({ kind }) => kind === 'embedded')
  const names = new Set(all.map(({ name }) => name))
  const base = embedded.find(({ port }) => port === 0)?.name ?? firstName
  const made: NodeConfig[] = []
  if (count > 0 && !embedded.some(({ port }) => port === 0)) made.push(embeddedNode(freeName(base, names, 1), 0))
  for (const port of ports) {
    if (made.length >= count) break
    made.push(embeddedNode(freeName(base, names, embedded.length + made.length + 1), port))
  }
  return made
}

function embeddedNode(name: string, port: number): NodeConfig {
  return nodeConfigSchema.parse({ name, kind: 'embedded', port })
}

/** Returns an unused name, e.g. `This machine 2`, and marks it as used. */
function freeName(base: string, names: Set<string>, from: number): string {
  const short = base.slice(0, limits.nodeName - 4).trimEnd()
  for (let number = from; ; number++) {
    const name = number === 1 ? short : `${short} ${number}`
    if (names.has(name)) continue
    names.add(name)
    return name
  }
}
