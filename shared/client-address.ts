/** Client addresses, for the controller's ports and for the media node. */

/**
 * Normalises a peer's IP address for display, comparison and limits: IPv4 in its own notation (`::ffff:10.0.0.5` becomes `10.0.0.5`), IPv6
 * without the network card (`fe80::1%eth0` becomes `fe80::1`). Empty if the connection is already closed.
 * @param remoteAddress remote address of a Node socket
 */
export function plainAddress(remoteAddress: string | undefined): string {
  if (remoteAddress === undefined) return ''
  const address = remoteAddress.startsWith('::ffff:') ? remoteAddress.slice(7) : remoteAddress
  const zone = address.indexOf('%')
  return zone === -1 ? address : address.slice(0, zone)
}

/**
 * Returns the key of a client for limits per address. It is the IPv4 address itself, or the /64 of an IPv6 address,
 * e.g. `2001:db8:0:7::/64`, within which a machine can choose any address (RFC 8981).
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
