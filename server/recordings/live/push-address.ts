import dns from 'node:dns/promises'
import net from 'node:net'
import os from 'node:os'

/** An address of an RTMP server that may be called. */
export interface PushTarget {
  /** For ffmpeg; its host is the address that was checked, where the protocol allows it. */
  url: string
  /** Address that the server is told, with the name that its client wrote; empty: the same. */
  tcUrl: string
  /** For logs: without path, query and login, which hold the key of the stream. */
  shown: string
}

/** Why an address is refused, as a sentence. */
export class PushAddressError extends Error {
  override readonly name = 'PushAddressError'
}

/** Addresses that lead to this machine whatever its interfaces are (RFC 1122, section 3.2.1.3; RFC 4291, section 2.5.3). */
const loopback = ['127.0.0.0/8', '0.0.0.0/8', '::1/128', '::/128', '::ffff:127.0.0.0/104']
const defaultPorts: Readonly<Record<string, number>> = { 'rtmp:': 1935, 'rtmps:': 443 }

/** Reads the address of an RTMP server. @throws PushAddressError */
function parsePushUrl(text: string): URL {
  const url = URL.parse(text)
  if (url === null || !(url.protocol in defaultPorts) || url.hostname === '' || /[\s"'\\]/.test(text)) {
    throw new PushAddressError('The address to push to must begin with rtmp:// or rtmps:// and name a host.')
  }
  return url
}

/**
 * Resolves the host of an RTMP address and checks where it leads: a client must not make this site call its own ports, or networks that the operator does not allow.
 * @param networks IP addresses and networks in CIDR notation that may be called; none: everywhere
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
  const found = await lookup(host).catch(() => [])
  if (found.length === 0) throw new PushAddressError(`The host ${host} cannot be found.`)
  const allowed = networks.length === 0 ? undefined : listOf(networks)
  const here = listOf([...loopback, ...ownAddresses()])
  const permits = (address: string): boolean =>
    (allowed === undefined || contains(allowed, address)) && !(sitePorts.includes(port) && contains(here, address))
  const permitted = found.filter(({ address }) => permits(address))
  const [first] = permitted
  if (first === undefined) throw new PushAddressError('The operator does not allow to push to this address.')
  // A name in TLS has to be the one in the certificate, so it stays, and all that it means has to be allowed.
  if (url.protocol === 'rtmps:' && permitted.length < found.length) {
    throw new PushAddressError('The operator does not allow to push to this address.')
  }
  const shown = `${url.protocol}//${host}:${port}`
  if (url.protocol === 'rtmps:') return { url: text, tcUrl: '', shown }
  const address = first.family === 6 ? `[${first.address}]` : first.address
  const [, application = ''] = url.pathname.split('/')
  const login = url.username === '' ? '' : `${url.username}:${url.password}@`
  return {
    url: `rtmp://${login}${address}:${port}${url.pathname}${url.search}`,
    tcUrl: `rtmp://${url.host}/${application}`,
    shown,
  }
}

function ownAddresses(): string[] {
  const entries = Object.values(os.networkInterfaces()).flatMap((each) => each ?? [])
  return entries.map(({ address, family }) => `${address.replace(/%.*$/, '')}/${family === 'IPv6' ? 128 : 32}`)
}

function listOf(networks: readonly string[]): net.BlockList {
  const list = new net.BlockList()
  for (const network of networks) {
    const [address = '', prefix] = network.split('/')
    const family = net.isIPv4(address) ? 'ipv4' : 'ipv6'
    if (prefix === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(prefix), family)
  }
  return list
}

function contains(list: net.BlockList, address: string): boolean {
  return list.check(address, net.isIPv4(address) ? 'ipv4' : 'ipv6')
}
