import dns from 'node:dns/promises'
import { type Refusal, refusal } from '../../../shared/refusals/refusal.ts'
import type { TunnelTarget } from '../../edge/outgoing-tls.ts'
import { callable, listContains, ownAddresses } from '../../edge/address-list.ts'

/** Permitted address of an RTMP server. */
export interface PushTarget {
  /**
   * URL for ffmpeg. The host is the IP address that was checked. The URL is without TLS even if the server requires
   * TLS, for which `tls` is set.
   */
  url: string
  /** Value of the RTMP field `tcUrl`, with the host name that the client specified. */
  tcUrl: string
  /** Form for logs: without path, query and login, which contain the key of the stream. */
  shown: string
  /** TLS target of an `rtmps://` address; undefined: no TLS. */
  tls?: TunnelTarget
}

/** Thrown if an address is invalid or not permitted. */
export class PushAddressError extends Error {
  override readonly name = 'PushAddressError'
  readonly refusal: Refusal

  constructor(reason: Refusal) {
    super(reason.message)
    this.refusal = reason
  }
}

const defaultPorts: Readonly<Record<string, number>> = { 'rtmp:': 1935, 'rtmps:': 443 }

/** Parses the address of an RTMP server. @throws PushAddressError */
function parsePushUrl(text: string): URL {
  const url = URL.parse(text)
  if (url === null || !(url.protocol in defaultPorts) || url.hostname === '' || /[\s"'\\]/.test(text)) {
    throw new PushAddressError(refusal('pushAddressForm'))
  }
  return url
}

/**
 * Returns the refusal of an address that resolves to no permitted IP address. Console users see the permitted networks;
 * the message for API clients does not contain them.
 * @param isPortOfSite the network is permitted, but the port belongs to this site
 */
function notPermitted(networks: readonly string[], isPortOfSite: boolean): Refusal {
  const general = refusal('pushAddress')
  if (networks.length === 0 || isPortOfSite) return general
  return { ...refusal('pushNetworks', { networks: networks.join(', ') }), message: general.message }
}

/**
 * Resolves the host of an RTMP address and checks the result. A client must not make this site connect to its own
 * ports, or to networks that the operator does not allow.
 * @param networks permitted IP addresses and networks in CIDR notation; empty: all except this machine, link-local
 * addresses and metadata services
 * @param sitePorts ports of this site, to which pushes on this machine never connect
 * @throws PushAddressError
 */
export async function checkPushAddress(
  text: string,
  { networks, sitePorts }: { networks: readonly string[]; sitePorts: readonly number[] },
  lookup: (host: string) => Promise<{ address: string; family: number }[]> = (host) => dns.lookup(host, { all: true }),
): Promise<PushTarget> {
  const url = parsePushUrl(text)
  const port = url.port === '' ? (defaultPorts[url.protocol] ?? 1935) : Number(url.port)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  // A name that does not resolve is refused below.
  const found = await lookup(host).catch(() => [])
  if (found.length === 0) throw new PushAddressError(refusal('pushHostUnknown', { host }))
  const allowed = callable(networks)
  const here = ownAddresses()
  const permits = (address: string): boolean =>
    allowed(address) && !(sitePorts.includes(port) && listContains(here, address))
  const permitted = found.filter(({ address }) => permits(address))
  const [first] = permitted
  if (first === undefined)
    throw new PushAddressError(
      notPermitted(
        networks,
        found.some(({ address }) => allowed(address)),
      ),
    )
  const address = first.family === 6 ? `[${first.address}]` : first.address
  const [, application = ''] = url.pathname.split('/')
  const login = url.username === '' ? '' : `${url.username}:${url.password}@`
  return {
    url: `rtmp://${login}${address}:${port}${url.pathname}${url.search}`,
    tcUrl: `${url.protocol}//${url.host}/${application}`,
    shown: `${url.protocol}//${host}:${port}`,
    ...(url.protocol === 'rtmps:' && { tls: { address: first.address, port, host } }),
  }
}
