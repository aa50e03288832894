/** Facts about a client's address, for the controller's ports and for the media node. */

/**
 * The IP address of a peer as it is shown, compared and limited: IPv4 in its own spelling (`::ffff:10.0.0.5` is `10.0.0.5`), IPv6
 * without the name of the network card (`fe80::1%eth0` is `fe80::1`). Empty when the connection is gone already.
 * @param remoteAddress as Node's socket says it
 */
export function plainAddress(remoteAddress: string | undefined): string {
  if (remoteAddress === undefined) return ''
  const address = remoteAddress.startsWith('::ffff:') ? remoteAddress.slice(7) : remoteAddress
  const zone = address.indexOf('%')
  return zone === -1 ? address : address.slice(0, zone)
}

/**
 * Names one client where something is shared out or limited per address: an IPv4 address itself, of an IPv6 address its /64,
 * e.g. `2001:db8:0:7::/64`, in which one machine picks as many addresses as it likes (RFC 8981).
 * @param address as `plainAddress` gives it
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

/** The 16-bit groups of a part of an IPv6 address; an IPv4 address at its end takes the room of two. */
function groupsOf(part: string): string[] {
  if (part === '') return []
  return part.split(':').flatMap((group) => (group.includes('.') ? [group, ''] : [group]))
}
