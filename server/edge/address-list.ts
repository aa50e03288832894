import net from 'node:net'
import os from 'node:os'

/** Addresses that lead to this machine whatever its interfaces are (RFC 1122, section 3.2.1.3; RFC 4291, section 2.5.3). */
const loopback = ['127.0.0.0/8', '0.0.0.0/8', '::1/128', '::/128', '::ffff:127.0.0.0/104']

/**
 * Addresses that name no server of others: this machine, unspecified and link-local ones (RFC 1122; RFC 3927; RFC 4291, section 2.5.6), which lead to metadata services of clouds, those of other
 * clouds, broadcast and multicast.
 */
const internal = [
  ...loopback,
  ...['169.254.0.0/16', 'fe80::/10', '::ffff:169.254.0.0/112', '100.100.100.200', 'fd00:ec2::254'],
  ...['224.0.0.0/4', '255.255.255.255', 'ff00::/8'],
]

/**
 * Returns a test of addresses of servers that a setting or a client names.
 * @param networks IP addresses and networks in CIDR notation that may be called; none: all but internal addresses
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

/** Whether an IP address is in a list. */
export function listContains(list: net.BlockList, address: string): boolean {
  return list.check(address, net.isIPv4(address) ? 'ipv4' : 'ipv6')
}

/** Addresses of this machine at the moment. */
export function ownAddresses(): net.BlockList {
  const entries = Object.values(os.networkInterfaces()).flatMap((each) => each ?? [])
  const own = entries.map(({ address, family }) => `${address.replace(/%.*$/, '')}/${family === 'IPv6' ? 128 : 32}`)
  return addressList([...loopback, ...own])
}
