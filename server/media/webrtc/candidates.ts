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
