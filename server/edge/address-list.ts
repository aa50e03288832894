import net from 'node:net'
import os from 'node:os'

/** Addresses of this machine, independent of its interfaces (RFC 1122, section 3.2.1.3; RFC 4291, section 2.5.3). */
const loopback = ['127.0.0.0/8', '0.0.0.0/8', '::1/128', '::/128', '::ffff:127.0.0.0/104']

/**
 * IPv4 networks that contain no external servers: this machine, unspecified and link-local addresses (RFC 1122; RFC
 * 3927), metadata services of clouds, multicast and broadcast.
 */
const internal4 = [
  ...['127.0.0.0/8', '0.0.0.0/8', '169.254.0.0/16', '100.100.100.200/32', '168.63.129.16/32', '192.0.0.192/32'],
  ...['224.0.0.0/4', '255.255.255.255/32'],
]

/**
 * Internal addresses, including IPv6 addresses that contain an internal IPv4 address: IPv4-mapped, IPv4-compatible (RFC
 * 4291, section 2.5.5), NAT64 (RFC 6052; RFC 8215), and the obsolete 6to4 (RFC 3056).
 */
const internal = [
  ...loopback,
  ...internal4,
  ...['::ffff:', '64:ff9b::'].flatMap((prefix) => internal4.map((network) => embedded(prefix, network))),
  ...['fe80::/10', 'fd00:ec2::254', 'ff00::/8', '::/96', '64:ff9b:1::/48', '2002::/16'],
]

/**
 * Returns a test for server addresses from a setting or a client.
 * @param networks permitted IP addresses and networks in CIDR notation; empty: all except internal addresses
 */
export function callable(networks: readonly string[]): (address: string) => boolean {
  const list = addressList(networks.length === 0 ? internal : networks)
  return (address) => listContains(list, address.replace(/%.*$/, '')) === networks.length > 0
}

/** Makes a list of IP addresses and networks in CIDR notation. */
export function addressList(networks: readonly string[]): net.BlockList {
  const list = new net.BlockList()
  for (const network of networks) {
    const [address = '', prefix] = network.split('/')
    const family = net.isIPv4(address) ? 'ipv4' : 'ipv6'
    if (prefix === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(prefix), family)
  }
  return list
}

/** Returns the IPv6 network whose last 32 bits are those of an IPv4 network. */
function embedded(prefix: string, network: string): string {
  const [address = '', bits = ''] = network.split('/')
  return `${prefix}${address}/${96 + Number(bits)}`
}

/** Whether an IP address is in a list. */
export function listContains(list: net.BlockList, address: string): boolean {
  return list.check(address, net.isIPv4(address) ? 'ipv4' : 'ipv6')
}

/** Returns the current addresses of this machine. */
export function ownAddresses(): net.BlockList {
  const entries = Object.values(os.networkInterfaces()).flatMap((each) => each ?? [])
  const own = entries.map(({ address, family }) => `${address.replace(/%.*$/, '')}/${family === 'IPv6' ? 128 : 32}`)
  return addressList([...loopback, ...own])
}
