import { limits } from '../../../shared/limits.ts'
import { type NodeConfig, nodeConfigSchema } from '../../../shared/node.ts'

/** A core that stays for the controller and the system: APIs answer at once while the nodes forward. */
const coresLeft = 1
/** Unless there is one already whose name the others can have. */
const firstName = 'This machine'

/** How many embedded nodes carry the most on a machine: one forwards on one core, so one for each core but one. */
export function maxUsefulNodes(cores: number): number {
  return Math.max(1, Math.min(limits.nodes, cores - coresLeft))
}

/**
 * Further embedded nodes with names of their own after the one that is there; the first of all is at the node port.
 * @param ports one for each that is not at the node port
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

/** E.g. `This machine 2`; taken from then on. */
function freeName(base: string, names: Set<string>, from: number): string {
  const short = base.slice(0, limits.nodeName - 4).trimEnd()
  for (let number = from; ; number++) {
    const name = number === 1 ? short : `${short} ${number}`
    if (names.has(name)) continue
    names.add(name)
    return name
  }
}
