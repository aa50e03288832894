import type { StoredNode } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { eventPath, type JanusFacts, janusFacts } from '../../secrets/janus-access.ts'
import { type EventTarget, type NodeFile, nodeFiles } from './node-files.ts'
import { createSocket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { isIP, isIPv6 } from 'node:net'
import { within } from '../../port/deadline.ts'

/** Timeout of a name lookup, in milliseconds. */
const lookupMs = 3_000
/**
 * Returns the configuration files of a Janus node of this site, for its current record and network route.
 * @param eventUrl URL of the event port; empty while it is closed; undefined if the controller chooses a free port when
 * it starts. A wildcard host is replaced by the address from which this machine reaches the node.
 * @throws ApiError 'internal' if the node's secrets cannot be unsealed
 */
export async function filesOfNode(
  node: StoredNode,
  store: Pick<Store, 'unseal'>,
  eventUrl: string | undefined,
): Promise<NodeFile[]> {
  const access = janusFacts(node, store)
  const url = URL.parse(access.adminUrl === '' ? access.wsUrl : access.adminUrl)
  const { adminAddress, controllerAddress } = await surroundingsOf(url?.hostname.replace(/^\[|\]$/g, '') ?? '')
  return nodeFiles({
    node: access,
    events: eventUrl === undefined ? 'unknown' : eventsOf(access, eventUrl, controllerAddress),
    adminAddress,
    controllers: controllerAddress === '' ? [] : [controllerAddress],
  })
}

function eventsOf({ name, secrets }: JanusFacts, eventUrl: string, controllerAddress: string): EventTarget | undefined {
  const url = URL.parse(eventUrl)
  if (url === null) return undefined
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  const wildcard = url.hostname === '0.0.0.0' || url.hostname === '[::]'
  if (wildcard && controllerAddress !== '')
    url.hostname = controllerAddress.includes(':') ? `[${controllerAddress}]` : controllerAddress
  return { backend: `${url.origin}${eventPath(name)}`, subprotocol: secrets.event_secret }
}

/** Addresses by which the controller and a node reach each other. */
interface Surroundings {
  /** IP address of the node's Admin API; empty if its name cannot be resolved. */
  adminAddress: string
  /** IP address of this machine on the route to the Admin API; empty if there is no route. */
  controllerAddress: string
}

/**
 * Returns the IP address of a host, and the address from which this machine would send to it by the system's routing
 * table. Sends no packet.
 * @param host a name or an IP address, without brackets
 */
async function surroundingsOf(host: string): Promise<Surroundings> {
  const adminAddress = await addressOf(host)
  return { adminAddress, controllerAddress: adminAddress === '' ? '' : await sourceAddress(adminAddress) }
}

async function addressOf(host: string): Promise<string> {
  if (isIP(host) !== 0) return host
  try {
    return (await within({ milliseconds: lookupMs }, () => lookup(host))).address
  } catch {
    // The name cannot be resolved here: the operator must enter an address.
    return ''
  }
}

/** Returns the local IP address that the system uses to send to `address`; empty if there is no route. */
async function sourceAddress(address: string): Promise<string> {
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4')
  try {
    // Connecting a UDP socket sends nothing, but selects the local address. The port is arbitrary.
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
