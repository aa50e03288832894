import { randomUUID } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import { isIPv4 } from 'node:net'
import { sleep } from '../../../shared/sleep.ts'
import { typedName } from '../../../shared/control-character.ts'
import { addressList, listContains } from '../../edge/address-list.ts'
import { part, parts, textAt, xmlTree } from '../../edge/xml-tree.ts'

/** Camera that responded to a search. */
export interface FoundCamera {
  /** The camera's endpoint reference, the same in every search. */
  id: string
  /** Name and model reported by the camera; may be empty. */
  name: string
  model: string
  /** IPv4 address from which the camera responded. */
  host: string
  /** URL of the camera's device service; its host is always `host`. */
  service: string
}

export interface Discovery {
  /** Cameras that responded in time, sorted by address. */
  cameras: FoundCamera[]
  /** Local addresses from which the query was sent, one per network. Networks without multicast are omitted. */
  searched: string[]
  /** Addresses of cameras that responded but are not in the permitted networks. */
  outside: string[]
}

export interface DiscoveryOptions {
  /** Addresses of this machine, one per network to search. */
  from: readonly string[]
  /** Permitted IP addresses and networks (CIDR) of cameras; empty: all. */
  networks: readonly string[]
  /** Time to wait for responses, in milliseconds. */
  waitMs?: number
}

/** Multicast group and port (WS-Discovery 1.0, section 2.4). */
const group = { address: '239.255.255.250', port: 3702 }
/**
 * Delay before the query is sent a second time, because UDP loses packets (WS-Discovery 1.0, appendix I). In
 * milliseconds.
 */
const repeatMs = 400
const maxMessage = 16_384
const maxMessages = 2_000
const maxCameras = 200
const maxOutside = 20

/**
 * Searches the networks of this machine for ONVIF cameras (WS-Discovery 1.0; ONVIF Core Specification, section 7.3).
 * Never rejects: networks that cannot be searched are omitted from the result.
 */
export async function discoverCameras({ from, networks, waitMs = 3_000 }: DiscoveryOptions): Promise<Discovery> {
  const messageId = `urn:uuid:${randomUUID()}`
  const probe = Buffer.from(probeMessage(messageId))
  const found = new Map<string, FoundCamera>()
  const searched = new Set<string>()
  const outside = new Set<string>()
  const isPermitted = permittedIn(networks)
  let messages = 0
  const sockets = from.map((address) => {
    const socket = createSocket({ type: 'udp4', reuseAddr: true })
    socket.on('error', () => close(socket))
    socket.on('message', (message, { address: host }) => {
      messages += 1
      if (messages > maxMessages || message.length > maxMessage || found.size >= maxCameras) return
      const cameras = camerasIn(message.toString(), messageId, host)
      if (isPermitted(host)) for (const camera of cameras) found.set(camera.id, camera)
      else if (cameras.length > 0 && outside.size < maxOutside) outside.add(host)
    })
    socket.bind({ address, port: 0 }, () => {
      try {
        socket.setMulticastTTL(1)
        socket.setMulticastInterface(address)
        socket.send(probe, group.port, group.address, (error) => {
          if (error === null) searched.add(address)
        })
      } catch {
        // The interface does not support multicast.
        close(socket)
      }
    })
    return socket
  })
  await sleep(Math.min(repeatMs, waitMs))
  for (const socket of sockets) again(socket, probe)
  await sleep(Math.max(0, waitMs - repeatMs))
  for (const socket of sockets) close(socket)
  return {
    cameras: [...found.values()].slice(0, maxCameras).toSorted((a, b) => order(a.host) - order(b.host)),
    searched: from.filter((address) => searched.has(address)),
    outside: [...outside].toSorted((a, b) => order(a) - order(b)),
  }
}

function again(socket: Socket, probe: Buffer): void {
  try {
    socket.send(probe, group.port, group.address, () => {})
  } catch {
    // The socket was closed by an error.
  }
}

function close(socket: Socket): void {
  try {
    socket.close()
  } catch {
    // The socket is already closed.
  }
}

function order(host: string): number {
  return host.split('.').reduce((sum, byte) => sum * 256 + Number(byte), 0)
}

function permittedIn(networks: readonly string[]): (host: string) => boolean {
  if (networks.length === 0) return isIPv4
  const list = addressList(networks)
  return (host) => isIPv4(host) && listContains(list, host)
}

/** Returns the cameras in a response to the query with this id; a response to any other query returns none. */
function camerasIn(message: string, messageId: string, host: string): FoundCamera[] {
  const envelope = part(xmlTree(message, maxMessage), 'Envelope')
  if (textAt(envelope, 'Header', 'RelatesTo') !== messageId) return []
  return parts(envelope, 'Body', 'ProbeMatches', 'ProbeMatch').flatMap((match) => {
    const id = textAt(part(match, 'EndpointReference'), 'Address')
    const service = serviceAt(textAt(match, 'XAddrs'), host)
    if (id === '' || service === undefined) return []
    const scopes = textAt(match, 'Scopes')
    return [{ id, name: scopeOf(scopes, 'name'), model: scopeOf(scopes, 'hardware'), host, service }]
  })
}

/**
 * Returns the URL of the device service; undefined: no usable address. The host is replaced by the address that
 * responded, because cameras behind NAT report a different address. HTTP is preferred: the login is sent as a digest,
 * and certificates of cameras are not signed by a known authority.
 */
function serviceAt(addresses: string, host: string): string | undefined {
  const urls = addresses.split(/\s+/).flatMap((address) => {
    const url = URL.parse(address)
    return url !== null && /^https?:$/.test(url.protocol) ? [url] : []
  })
  const rank = ({ protocol, hostname }: URL): number => (protocol === 'http:' ? 0 : 2) + (hostname === host ? 0 : 1)
  const [url] = urls.toSorted((a, b) => rank(a) - rank(b))
  if (url === undefined) return undefined
  url.hostname = host
  url.username = ''
  url.password = ''
  return url.href
}

/** Returns the value of a scope (ONVIF Core Specification, section 7.3.2.2); empty: none. */
function scopeOf(scopes: string, name: string): string {
  const value = new RegExp(`onvif://www\\.onvif\\.org/${name}/(\\S{1,200})`).exec(scopes)?.[1] ?? ''
  try {
    return typedName(decodeURIComponent(value))
  } catch {
    return typedName(value)
  }
}

function probeMessage(messageId: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?><s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope" xmlns:a="http://schemas.xmlsoap.org/ws/2004/08/addressing" xmlns:d="http://schemas.xmlsoap.org/ws/2005/04/discovery" xmlns:dn="http://www.onvif.org/ver10/network/wsdl"><s:Header><a:MessageID>${messageId}</a:MessageID><a:To>urn:schemas-xmlsoap-org:ws:2005:04:discovery</a:To><a:Action>http://schemas.xmlsoap.org/ws/2005/04/discovery/Probe</a:Action></s:Header><s:Body><d:Probe><d:Types>dn:NetworkVideoTransmitter</d:Types></d:Probe></s:Body></s:Envelope>`
}
