import dns from 'node:dns/promises'
import { type Refusal, refusal } from '../../../shared/refusals/refusal.ts'
import type { TunnelTarget } from '../../edge/tls-tunnel.ts'
import { callable, listContains, ownAddresses } from '../../edge/address-list.ts'

/** An address of an RTMP server that may be called. */
export interface PushTarget {
  /** For ffmpeg: its host is the address that was checked. Without TLS, also where `tls` says that the server wants it. */
  url: string
  /** Address that the server is told, with the name that its client wrote. */
  tcUrl: string
  /** For logs: without path, query and login, which hold the key of the stream. */
  shown: string
  /** The server is reached by TLS (`rtmps://`). */
  tls?: TunnelTarget
}

/** An address is refused. */
export class PushAddressError extends Error {
  override readonly name = 'PushAddressError'
  readonly refusal: Refusal

  constructor(reason: Refusal) {
    super(reason.message)
    this.refusal = reason
  }
}

const defaultPorts: Readonly<Record<string, number>> = { 'rtmp:': 1935, 'rtmps:': 443 }

/** Reads the address of an RTMP server. @throws PushAddressError */
function parsePushUrl(text: string): URL {
  const url = URL.parse(text)
  if (url === null || !(url.protocol in defaultPorts) || url.hostname === '' || /[\s"'\\]/.test(text)) {
    throw new PushAddressError(refusal('pushAddressForm'))
  }
  return url
}

/**
 * Refuses an address that resolves to no permitted one. Console users read the permitted networks; the sentence for API clients does not name them.
 * @param isPortOfSite the network is permitted, but the port is one of this site
 */
function notPermitted(networks: readonly string[], isPortOfSite: boolean): Refusal {
  const general = refusal('pushAddress')
  if (networks.length === 0 || isPortOfSite) return general
  return { ...refusal('pushNetworks', { networks: networks.join(', ') }), message: general.message }
}

/**
 * Resolves the host of an RTMP address and checks where it leads: a client must not make this site call its own ports, or networks that the operator does not allow.
 * @param networks IP addresses and networks in CIDR notation that may be called; none: all but this machine, link-local addresses and metadata services
 * @param sitePorts ports of this site, which are never called on this machine
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
  // A name that cannot be looked up is refused below.
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
