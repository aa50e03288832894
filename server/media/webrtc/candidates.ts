import net from 'node:net'

/**
 * The answer with the advertised addresses in place of the machine's own, on the same port: behind a NAT only those can be reached. None: unchanged.
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

/** The end of a name that stands for an address, and what is before and behind it in a candidate. */
const hiddenAddress = /^((?:a=)?candidate:\S+ \d+ (\S+) \d+ )[^ ]+\.local /i

/**
 * A candidate as the node can use it. Browsers put a name in the place of their address that nobody but their own network can resolve
 * (draft-ietf-mmusic-mdns-ice-candidates): where no NAT lies between, it is the address that the request came from. With it the node sends its check at once;
 * without, only 50 ms after the browser's last one, and the browser begins with three of them, 48 ms apart. Where it is wrong, nobody answers the check.
 * @param client address of the request; empty when unknown
 * @returns undefined when it cannot be used
 */
export function usableCandidate(candidate: string, client: string): string | undefined {
  const [found, before, transport = ''] = hiddenAddress.exec(candidate) ?? []
  if (found === undefined) return candidate
  if (client === '' || transport.toLowerCase() !== 'udp') return undefined
  return `${before}${client} ${candidate.slice(found.length)}`
}

/** The addresses of an answer, without `a=`, on another port. */
export function candidatesOn(port: number, sdp: string): string[] {
  const section = sdp.split(/^m=/m, 2)[1] ?? ''
  const found = section.matchAll(/^a=(candidate:\S+ 1 UDP \d+ \S+) \d+ (typ host)/gim)
  return Array.from(found, ([, before, after]) => `${before} ${port} ${after}`)
}

/** Earlier addresses are preferred (RFC 8445, section 5.1.2). */
function candidateLine(index: number, address: string, port: number): string {
  const priority = 126 * 2 ** 24 + (65_535 - index) * 2 ** 8 + 255
  const host = net.isIP(address) === 0 ? address : address.toLowerCase()
  return `a=candidate:${index + 1} 1 UDP ${priority} ${host} ${port} typ host`
}
