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

/**
 * Maximum number of distinct addresses per session: a machine with several network cards, VPNs and relays has fewer.
 */
const maxCandidates = 24
/** Lowest accepted port. Lower ports belong to system services; browsers, NATs and TURN servers do not assign them. */
const firstPort = 1_024
/** Maximum length of a candidate line in characters. */
const maxLength = 512

/** Captures the transport, address and port of a candidate (RFC 8839, section 5.1). */
const candidateParts = /^(?:a=)?candidate:\S+ \d+ (\S+) \d+ (\S+) (\d{1,5}) typ [a-z]+(?: |$)/i

/** Scope of an address. */
type Reach = 'loopback' | 'link' | 'site' | 'public' | 'none'

const ranges: readonly [reach: Reach, list: net.BlockList][] = [
  ['none', listOf(['0.0.0.0', 8], ['224.0.0.0', 4], ['240.0.0.0', 4], ['::', 128], ['ff00::', 8])],
  ['loopback', listOf(['127.0.0.0', 8], ['::1', 128])],
  ['link', listOf(['169.254.0.0', 16], ['fe80::', 10])],
  ['site', listOf(['10.0.0.0', 8], ['100.64.0.0', 10], ['172.16.0.0', 12], ['192.168.0.0', 16], ['fc00::', 7])],
]

/**
 * Scopes of candidate addresses that are accepted, by the scope of the client's address. Private addresses are normal
 * on a site's own network.
 */
const allowed: Readonly<Record<Reach, readonly Reach[]>> = {
  loopback: ['loopback', 'link', 'site', 'public'],
  link: ['link', 'site', 'public'],
  site: ['site', 'public'],
  public: ['public'],
  none: ['site', 'public'],
}

/** Limits the candidates of one session, because the node sends a check to every accepted address. */
export class CandidatePolicy {
  readonly #client: string
  readonly #seen = new Set<string>()

  /** @param client address of the request; empty when unknown */
  constructor(client: string) {
    this.#client = client
  }

  /**
   * Returns whether the node may send checks to this candidate. A client without accepted candidates can still connect:
   * its first check reveals its address.
   * @param candidate with or without `a=`
   */
  accepts(candidate: string): boolean {
    if (candidate.length > maxLength) return false
    const [, transport = '', address = '', port = ''] = candidateParts.exec(candidate) ?? []
    const number = Number(port)
    if (transport.toLowerCase() !== 'udp' || number < firstPort || number > 65_535) return false
    if (!mayName(this.#client, address)) return false
    const place = `${address.toLowerCase()} ${number}`
    if (this.#seen.has(place)) return true
    if (this.#seen.size >= maxCandidates) return false
    this.#seen.add(place)
    return true
  }
}

/** Matches lines that a library may read as a candidate. */
export const candidateStart = /^\s*a=\s*candidate/i

/**
 * Returns the session description without the candidates that the policy rejects. Other lines stay unchanged, because
 * the receiving node replaces hidden addresses itself.
 */
export function withPermitted(sdp: string, client: string, policy: CandidatePolicy): string {
  return sdp
    .split(/(?<=\n)/)
    .filter((line) => {
      if (!candidateStart.test(line)) return true
      const called = usableCandidate(line.trim(), client)
      return called !== undefined && policy.accepts(called)
    })
    .join('')
}

/**
 * Returns whether a client may offer this address. A host name is rejected: its resolution would send queries to the
 * site's own name server.
 */
function mayName(client: string, address: string): boolean {
  const plain = unmapped(address)
  if (net.isIP(plain) === 0) return false
  return plain === unmapped(client) || allowed[reachOf(unmapped(client))].includes(reachOf(plain))
}

/** @returns `none` if the text is not the address of one machine */
function reachOf(address: string): Reach {
  const family = net.isIP(address)
  if (family === 0) return 'none'
  const found = ranges.find(([, list]) => list.check(address, family === 6 ? 'ipv6' : 'ipv4'))
  return found?.[0] ?? 'public'
}

/** Returns the IPv4 address of an IPv4-mapped IPv6 address in any spelling, and every other address unchanged. */
function unmapped(address: string): string {
  const plain = address.replace(/%.*$/, '')
  if (!net.isIPv6(plain)) return plain
  const [, high, low] = /^\[::ffff:([0-9a-f]+):([0-9a-f]+)\]$/.exec(new URL(`http://[${plain}]`).hostname) ?? []
  if (high === undefined || low === undefined) return plain
  const [first, second] = [Number.parseInt(high, 16), Number.parseInt(low, 16)]
  return [first >> 8, first & 255, second >> 8, second & 255].join('.')
}

function listOf(...subnets: readonly [address: string, prefix: number][]): net.BlockList {
  const list = new net.BlockList()
  for (const [address, prefix] of subnets) list.addSubnet(address, prefix, net.isIPv6(address) ? 'ipv6' : 'ipv4')
  return list
}
