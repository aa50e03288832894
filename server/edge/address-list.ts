import net from 'node:net'
import os from 'node:os'

/** Addresses that lead to this machine whatever its interfaces are (RFC 1122, section 3.2.1.3; RFC 4291, section 2.5.3). */
const loopback = ['127.0.0.0/8', '0.0.0.0/8', '::1/128', '::/128', '::ffff:127.0.0.0/104']

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
