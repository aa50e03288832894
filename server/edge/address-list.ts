import net from 'node:net'
import os from 'node:os'

/** Addresses that lead to this machine whatever its interfaces are (RFC 1122, section 3.2.1.3; RFC 4291, section 2.5.3). */
const loopback = ['127.0.0.0/8', '0.0.0.0/8', '::1/128', '::/128', '::ffff:127.0.0.0/104']

/** IPv4 networks that name no server of others: this machine, unspecified and link-local addresses (RFC 1122; RFC 3927), which lead to metadata services of clouds, those of other clouds, multicast and broadcast. */
const internal4 = [
  ...['127.0.0.0/8', '0.0.0.0/8', '169.254.0.0/16', '100.100.100.200/32', '168.63.129.16/32', '192.0.0.192/32'],
  ...['224.0.0.0/4', '255.255.255.255/32'],
]

/** Internal addresses, also where an IPv6 address contains one: IPv4-mapped, IPv4-compatible (RFC 4291, section 2.5.5), by a translator (RFC 6052; RFC 8215), or by 6to4 (RFC 3056), which is out of use. */
const internal = [
  ...loopback,
  ...internal4,
  ...['::ffff:', '64:ff9b::'].flatMap((prefix) => internal4.map((network) => embedded(prefix, network))),
  ...['fe80::/10', 'fd00:ec2::254', 'ff00::/8', '::/96', '64:ff9b:1::/48', '2002::/16'],
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

/** IPv6 network whose last 32 bits are those of an IPv4 network. */
function embedded(prefix: string, network: string): string {
  const [address = '', bits = ''] = network.split('/')
  return `${prefix}${address}/${96 + Number(bits)}`
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
