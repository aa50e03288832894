import type { StoredNode } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { eventPath, type JanusFacts, janusFacts } from '../../secrets/janus-access.ts'
import { type EventTarget, type NodeFile, nodeFiles } from './node-files.ts'
import { createSocket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { isIP, isIPv6 } from 'node:net'
import { within } from '../../port/deadline.ts'

/** Looking a name up, in milliseconds. */
const lookupMs = 3_000
/**
 * The configuration files of a Janus node of this site, as its record and the way to it are now.
 * @param eventUrl where the event port listens; empty while it does not; undefined: any free port, which only the controller that picks it knows. A wildcard in it becomes the address that this machine calls the node from.
 * @throws ApiError 'internal' when its secrets cannot be unsealed
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
  /** The IP address of the node's Admin API; empty where its name is not known here. */
  adminAddress: string
  /** The IP address that this machine calls it from; empty where there is no way to it. */
  controllerAddress: string
}

/**
 * Returns the addresses of this machine from which it would send to a host, by the system's routing table. Nothing is sent.
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
