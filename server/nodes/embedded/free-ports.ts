import dgram from 'node:dgram'
import { once } from 'node:events'
import net from 'node:net'
import { restartPortAbove } from '../../../shared/media/ports.ts'
import { tryPort } from '../../edge/try-port.ts'

/** Range of ports to search. */
export interface PortSearch {
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
