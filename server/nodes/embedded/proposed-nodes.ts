import dgram from 'node:dgram'
import { once } from 'node:events'
import net from 'node:net'
import { limits } from '../../../shared/limits.ts'
import { restartPortAbove } from '../../../shared/media/ports.ts'
import { type NodeConfig, nodeConfigSchema } from '../../../shared/node.ts'
import { tryPort } from '../../edge/listen-error.ts'

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

/** Range of ports to search. */
interface PortSearch {
  /** Host on which the nodes listen. */
  host: string
  from: number
  count: number
  /** Ports that the site has reserved, whether they are in use or not. */
  taken: Iterable<number>
}

/** Maximum number of ports to check. */
const maxLooks = 500

/**
 * Returns free ports for further embedded nodes. Each port is free for TCP and UDP, and so is its UDP port for clients
 * that restart ICE. Returns fewer than `count` if there are not enough.
 */
export async function freePorts({ host, from, count, taken }: PortSearch): Promise<number[]> {
  const given = new Set([...taken].flatMap(withRestarts))
  const found: number[] = []
  const end = Math.min(from + maxLooks, 65_535 - restartPortAbove)
  for (let port = from; port <= end && found.length < count; port++) {
    if (withRestarts(port).some((each) => given.has(each)) || !(await isFree(host, port))) continue
    found.push(port)
    for (const each of withRestarts(port)) given.add(each)
  }
  return found
}

function withRestarts(port: number): number[] {
  return [port, port + restartPortAbove]
}

async function isFree(host: string, port: number): Promise<boolean> {
  if ((await tryPort('node', host, port)) !== undefined) return false
  for (const each of withRestarts(port)) if (!(await isFreeForDatagrams(host, each))) return false
  return true
}

/** Tests the port by binding it briefly. */
async function isFreeForDatagrams(host: string, port: number): Promise<boolean> {
  const socket = dgram.createSocket(net.isIPv6(host) ? 'udp6' : 'udp4')
  try {
    socket.bind(port, host)
    await once(socket, 'listening')
    return true
  } catch {
    // The port is in use.
    return false
  } finally {
    socket.close()
  }
}
