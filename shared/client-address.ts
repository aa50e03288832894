/** Functions for client addresses, used by the controller's ports and the media node. */

/**
 * Normalizes a peer's IP address for display, comparison and limits: converts IPv4-mapped addresses to IPv4
 * (`::ffff:10.0.0.5` becomes `10.0.0.5`) and removes the zone of IPv6 addresses (`fe80::1%eth0` becomes `fe80::1`).
 * Returns an empty text if the connection is already closed.
 * @param remoteAddress remote address of a Node.js socket
 */
export function plainAddress(remoteAddress: string | undefined): string {
  if (remoteAddress === undefined) return ''
  const address = remoteAddress.startsWith('::ffff:') ? remoteAddress.slice(7) : remoteAddress
  const zone = address.indexOf('%')
  return zone === -1 ? address : address.slice(0, zone)
}

/**
 * Returns the key of a client for limits per address: the IPv4 address itself, or the /64 network of an IPv6 address,
 * e.g. `2001:db8:0:7::/64`. A machine can choose any address within its /64 network (RFC 8981).
 * @param address result of `plainAddress`
 */
export function addressShare(address: string): string {
  if (!address.includes(':')) return address
  const [head = '', tail] = address.split('::')
  const groups = groupsOf(head)
  if (tail !== undefined) {
    const last = groupsOf(tail)
    while (groups.length + last.length < 8) groups.push('0')
    groups.push(...last)
  }
  const network = groups.slice(0, 4)
  while (network.at(-1) === '0') network.pop()
  return `${network.join(':')}::/64`
}

/** Splits a part of an IPv6 address into 16-bit groups; an IPv4 address at its end counts as two. */
function groupsOf(part: string): string[] {
  if (part === '') return []
  return part.split(':').flatMap((group) => (group.includes('.') ? [group, ''] : [group]))
}
