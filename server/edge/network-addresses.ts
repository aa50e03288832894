import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os'
import { leavesMachine } from '../../shared/bind-address.ts'

/**
 * Returns `http://host:port` for every address at which other machines reach a listener bound to `host`. For a
 * wildcard, returns all addresses of this machine.
 */
export function reachableUrls(url: string, host: string): string[] {
  if (url === '') return []
  const { protocol, port } = new URL(url)
  if (host !== '0.0.0.0' && host !== '::') return [url]
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  const usable = addresses.filter(
    ({ family, address }) => family === 'IPv4' || (host === '::' && !address.startsWith('fe80:')),
  )
  return usable.map(({ family, address }) => `${protocol}//${family === 'IPv6' ? `[${address}]` : address}:${port}`)
}

/** Returns the URL of a listener for a client on this machine; a wildcard host becomes the loopback address. */
export function listenerUrl(host: string, port: number, protocol = 'http'): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `${protocol}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}

/** Returns `host:port` at which clients reach this machine's own node (see `outsideUrl`); empty: the port is closed. */
export function nodeAddressOf(url: string, host: string, preferred = ''): string {
  return url === '' ? '' : new URL(outsideUrl(url, host, preferred)).host
}

/**
 * Returns a listener's URL for other machines; empty: the port is closed. A wildcard host is replaced by the preferred
 * address of this machine, or by its first address on a network.
 * @param preferred if empty, or no longer an address of this machine: the first address
 */
export function outsideUrl(url: string, host: string, preferred = ''): string {
  if (host !== '0.0.0.0' && host !== '::') return url
  const urls = reachableUrls(url, host).filter(
    (reachable) => !reachable.includes('//127.') && !reachable.includes('//[::1]'),
  )
  return urls.find((reachable) => new URL(reachable).hostname === preferred) ?? urls[0] ?? url
}

/** Returns a listener's URL with the host to which it is bound, even a wildcard; empty: the port is closed. */
export function boundUrl(url: string, host: string): string {
  const parsed = URL.parse(url)
  return parsed === null ? '' : `${parsed.protocol}//${host.includes(':') ? `[${host}]` : host}:${parsed.port}`
}

/** Returns the port of a listener's URL, which omits 80 for http and 443 for https; 0: the port is closed. */
export function portOfUrl(url: string): number {
  return url === '' ? 0 : Number(new URL(url).port) || (url.startsWith('https') ? 443 : 80)
}

/** Names of network interfaces of containers, virtual machines and tunnels, which do not reach other devices. */
const virtualCard =
  /^(docker|veth|br-|virbr|lxc|lxd|vmnet|vboxnet|vethernet|utun|tun|tap|zt|tailscale|wg|cni|flannel|podman)/i

/**
 * Returns IPv4 addresses of this machine on networks, real network interfaces first; without loopback and link-local
 * addresses.
 * @param cards network interfaces by name; default: the interfaces of this machine
 */
export function lanAddresses(cards: NodeJS.Dict<NetworkInterfaceInfo[]> = networkInterfaces()): string[] {
  const usable = Object.entries(cards).flatMap(([card, list]) =>
    (list ?? [])
      .filter(({ family, internal, address }) => family === 'IPv4' && !internal && !address.startsWith('169.254.'))
      .map(({ address }) => ({ address, isVirtual: virtualCard.test(card) })),
  )
  return usable.sort((one, other) => Number(one.isVirtual) - Number(other.isVirtual)).map(({ address }) => address)
}

/**
 * Returns the hosts at which other devices reach a listener that is bound to `host`. For a wildcard, these are the
 * addresses on networks; for loopback, there are none.
 */
export function lanHosts(host: string): string[] {
  if (!leavesMachine(host)) return []
  return host === '0.0.0.0' || host === '::' ? lanAddresses() : [host]
}

/** Returns the names of listeners that use plain HTTP with other machines. */
export function plainListeners<Name extends string>(
  listeners: readonly { name: Name; state: string; url: string; urls: readonly string[] }[],
): Name[] {
  const isOpen = (url: string): boolean =>
    url.startsWith('http:') && leavesMachine(new URL(url).hostname.replace(/^\[|\]$/g, ''))
  return listeners
    .filter(({ state, url, urls }) => state === 'listening' && [url, ...urls].some(isOpen))
    .map(({ name }) => name)
}
