import net from 'node:net'

/**
 * Returns the answer with the advertised addresses instead of the machine's own, on the same port. Behind a NAT,
 * clients reach only the advertised addresses. An empty list leaves the answer unchanged.
 */
export function advertise(sdp: string, addresses: readonly string[]): string {
  if (addresses.length === 0) return sdp
  let replaced = false
  return sdp
    .split('\r\n')
    .flatMap((line) => {
      if (line.startsWith('m=')) replaced = false
      const match = /^a=candidate:\S+ 1 UDP \d+ \S+ (\d+) typ host/i.exec(line)
      if (match === null) return [line]
      if (replaced) return []
      replaced = true
      return addresses.map((address, index) => candidateLine(index, address, Number(match[1])))
    })
    .join('\r\n')
}

/** Matches a candidate with an mDNS name as its address, and captures the part before the name. */
const hiddenAddress = /^((?:a=)?candidate:\S+ \d+ (\S+) \d+ )[^ ]+\.local /i

/**
 * Returns a candidate in a form that the node can use. Browsers hide their address behind a name that only their own
 * network can resolve (draft-ietf-mmusic-mdns-ice-candidates). Without a NAT in between, the hidden address is the
 * source address of the request. With the source address, the node sends its check at once. Without the address, the
 * check would wait until 50 ms after the browser's last check; browsers begin with three checks, 48 ms apart. A wrong
 * guess is harmless: the check stays unanswered.
 * @param client source address of the request; empty when unknown
 * @returns undefined if the node cannot use the candidate
 */
export function usableCandidate(candidate: string, client: string): string | undefined {
  const [found, before, transport = ''] = hiddenAddress.exec(candidate) ?? []
  if (found === undefined) return candidate
  if (client === '' || transport.toLowerCase() !== 'udp') return undefined
  return `${before}${client} ${candidate.slice(found.length)}`
}

/** Returns the candidates of an answer, without `a=` and with the given port. */
export function candidatesOn(port: number, sdp: string): string[] {
  const section = sdp.split(/^m=/m, 2)[1] ?? ''
  const found = section.matchAll(/^a=(candidate:\S+ 1 UDP \d+ \S+) \d+ (typ host)/gim)
  return Array.from(found, ([, before, after]) => `${before} ${port} ${after}`)
}

/** Builds a candidate line. Earlier addresses get a higher priority (RFC 8445, section 5.1.2). */
function candidateLine(index: number, address: string, port: number): string {
  const priority = 126 * 2 ** 24 + (65_535 - index) * 2 ** 8 + 255
  const host = net.isIP(address) === 0 ? address : address.toLowerCase()
  return `a=candidate:${index + 1} 1 UDP ${priority} ${host} ${port} typ host`
}
