import { BlockList, isIP, isIPv6 } from 'node:net'
import { hostname, type NetworkInterfaceInfo, networkInterfaces } from 'node:os'

export interface CertifiedNames {
  /** DNS names in lower case; a permitted name includes its subdomains (RFC 5280, section 4.2.1.10). */
  dns: readonly string[]
  /** IP addresses; permitted addresses may also be networks in CIDR notation. */
  addresses: readonly string[]
}

/** Names of this site: `current` for its certificate, and `permitted` for its authority. */
export interface SiteNames {
  current: CertifiedNames
  permitted: CertifiedNames
  /** Host names and addresses that the operator chose. */
  chosen: CertifiedNames
}

/** Largest networks that an authority may sign for, as prefix lengths in bits. */
const shortestPrefix = { 4: 16, 6: 64 } as const

const privateNetworks = new BlockList()
for (const [network, prefix] of [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
] as const)
  privateNetworks.addSubnet(network, prefix)

/**
 * Returns the names of this machine, and hosts of the settings. Private IPv4 addresses and IPv6 addresses are permitted
 * with their network, because DHCP and privacy extensions (RFC 8981) change them; every other address is permitted
 * individually.
 * @param hosts names or addresses that the operator chose
 */
export function siteNames(
  hosts: readonly string[] = [],
  machine = { hostname: hostname(), interfaces: networkInterfaces() },
): SiteNames {
  const chosen = sorted(hosts.map((host) => host.toLowerCase().replace(/^\[(.*)\]$/, '$1')))
  const own = machine.hostname.toLowerCase()
  const dns = sorted(['localhost', own, ...(own.includes('.') ? [] : [`${own}.local`])]).dns
  const interfaces = Object.values(machine.interfaces)
    .flatMap((list) => list ?? [])
    .filter(({ address }) => !/^fe[89ab]/i.test(address))
  const addresses = ['127.0.0.1', '::1', ...interfaces.map(({ address }) => address)]
  const networks = ['127.0.0.1/32', '::1/128', ...interfaces.filter(({ internal }) => !internal).map(networkOf)]
  return {
    chosen,
    current: both({ dns, addresses }, chosen),
    permitted: both({ dns, addresses: networks }, { ...chosen, addresses: chosen.addresses.map(alone) }),
  }
}

/** Returns those of the names that `permitted` includes. */
export function permittedOf({ dns, addresses }: CertifiedNames, permitted: CertifiedNames): CertifiedNames {
  const networks = new BlockList()
  for (const network of permitted.addresses) {
    const [address = '', prefix] = network.split('/')
    networks.addSubnet(address, Number(prefix), family(address))
  }
  return {
    dns: dns.filter((name) => permitted.dns.some((base) => name === base || name.endsWith(`.${base}`))),
    addresses: addresses.filter((address) => networks.check(address, family(address))),
  }
}

/** Whether all of these names are permitted. */
export function permits(permitted: CertifiedNames, names: CertifiedNames): boolean {
  const { dns, addresses } = permittedOf(names, permitted)
  return dns.length === names.dns.length && addresses.length === names.addresses.length
}

function sorted(hosts: readonly string[]): CertifiedNames {
  const addresses = hosts.filter((host) => isIP(host) !== 0)
  const dns = hosts.filter((host) => isIP(host) === 0 && isDnsName(host))
  return { dns, addresses }
}

/** Whether a name has only letters, digits and hyphens (RFC 1123, section 2.1). */
function isDnsName(name: string): boolean {
  return name.length <= 253 && name.split('.').every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(label))
}

function both(one: CertifiedNames, other: CertifiedNames): CertifiedNames {
  return {
    dns: [...new Set([...one.dns, ...other.dns])],
    addresses: [...new Set([...one.addresses, ...other.addresses])],
  }
}

function networkOf({ address, cidr }: NetworkInterfaceInfo): string {
  const version = isIPv6(address) ? 6 : 4
  if (cidr === null || (version === 4 && !privateNetworks.check(address))) return alone(address)
  const prefix = Math.max(Number(cidr.split('/')[1]), shortestPrefix[version])
  return `${masked(address, prefix)}/${prefix}`
}

function alone(address: string): string {
  return `${address}/${isIPv6(address) ? 128 : 32}`
}

/** Returns the first address of the network with this prefix. */
function masked(address: string, prefix: number): string {
  if (isIPv6(address)) {
    // The URL parser writes an address in its canonical form (RFC 5952).
    const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1)
    const [left = '', right = ''] = canonical.split('::')
    const head = left === '' ? [] : left.split(':')
    const tail = right === '' ? [] : right.split(':')
    const groups = [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail]
    return new URL(
      `http://[${groups.map((group, at) => bits(Number.parseInt(group, 16), 16, prefix - 16 * at).toString(16)).join(':')}]`,
    ).hostname.slice(1, -1)
  }
  return address
    .split('.')
    .map((part, at) => bits(Number(part), 8, prefix - 8 * at))
    .join('.')
}

/** Returns a number of `width` bits with all but the first `kept` bits cleared. */
function bits(value: number, width: number, kept: number): number {
  const dropped = width - Math.min(Math.max(kept, 0), width)
  return (value >> dropped) << dropped
}

function family(address: string): 'ipv4' | 'ipv6' {
  return isIPv6(address) ? 'ipv6' : 'ipv4'
}

/**
 * Server name with which controllers of a site request each other's certificates (RFC 6066, section 3). No host can
 * have this name (RFC 9476).
 */
export const controllerName = 'controller.alt'
