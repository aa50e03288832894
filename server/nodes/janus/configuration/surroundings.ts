import { createSocket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { isIP, isIPv6 } from 'node:net'
import { within } from '../../port/deadline.ts'

/** How the controller and a node see each other. */
export interface Surroundings {
  /** The IP address of the node's Admin API; empty where its name is not known here. */
  adminAddress: string
  /** The IP address that this machine calls it from; empty where there is no way to it. */
  controllerAddress: string
}

/** Looking a name up, in milliseconds. */
const lookupMs = 3_000

/**
 * Finds out by which addresses this machine reaches a host. Nothing is sent to it: the system says which of its addresses it would send from.
 * @param host a name or an IP address, without brackets
 */
export async function surroundingsOf(host: string): Promise<Surroundings> {
  const adminAddress = await addressOf(host)
  return { adminAddress, controllerAddress: adminAddress === '' ? '' : await sourceAddress(adminAddress) }
}

async function addressOf(host: string): Promise<string> {
  if (isIP(host) !== 0) return host
  try {
    return (await within({ milliseconds: lookupMs }, () => lookup(host))).address
  } catch {
    // The name is unknown here: the operator is asked for an address.
    return ''
  }
}

/** @param address of the host that would be called */
async function sourceAddress(address: string): Promise<string> {
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4')
  try {
    // A UDP socket that connects sends nothing: it only chooses its own address. The port is any.
    socket.connect(9, address)
    await once(socket, 'connect')
    return socket.address().address
  } catch {
    // There is no route.
    return ''
  } finally {
    socket.close()
  }
}
