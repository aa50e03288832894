import dns from 'node:dns'
import net from 'node:net'
import os from 'node:os'
import { RtspError } from './rtsp-error.ts'

/** Addresses at which cameras may be. */
export interface AllowedAddressesOptions {
  /** IP addresses and networks in CIDR notation; none: everywhere. */
  networks: readonly string[]
  /** Ports of this site, which are never called on this machine. */
  sitePorts: readonly number[]
  /** IP addresses by which this machine is reached besides those of its interfaces. */
  siteAddresses: readonly string[]
  /** Left out: the system's. */
  resolve?: typeof dns.lookup
}

/** Addresses that lead to this machine whatever its interfaces are (RFC 1122, section 3.2.1.3; RFC 4291, sections 2.5.2 and 2.5.3). */
const loopback = ['127.0.0.0/8', '0.0.0.0/8', '::1', '::']

/** Says which addresses a camera may be called at, so that nobody reaches the inside of a network, or this site itself, by naming it as a camera. */
export class AllowedAddresses {
  readonly #networks: net.BlockList | undefined
  readonly #sitePorts: ReadonlySet<number>
  readonly #here: net.BlockList
  readonly #resolve: typeof dns.lookup

  /** @throws Error when a network is malformed: the settings were checked before */
  constructor({ networks, sitePorts, siteAddresses, resolve = dns.lookup }: AllowedAddressesOptions) {
    this.#networks = networks.length === 0 ? undefined : listOf(networks)
    this.#sitePorts = new Set(sitePorts)
    this.#here = listOf([...loopback, ...siteAddresses.filter((address) => net.isIP(address) !== 0)])
    this.#resolve = resolve
  }

  /** @param address IPv4 or IPv6, with or without a zone */
  permits(address: string, port: number): boolean {
    if (this.#networks !== undefined && !contains(this.#networks, address)) return false
    return !this.#sitePorts.has(port) || !(contains(this.#here, address) || isOfAnInterface(address))
  }

  /** Whether a camera may send on to another host: only within networks that the operator has named, or it could have the node call any machine. */
  get allowOtherHosts(): boolean {
    return this.#networks !== undefined
  }

  /** Whether a host may be called, as far as it is an IP address; `lookup` checks names. */
  permitsHost({ host, port }: { host: string; port: number }): boolean {
    return net.isIP(host) === 0 || this.permits(host, port)
  }

  /** @throws RtspError 'forbidden' when the host is an IP address that is not permitted */
  check(host: string, port: number): void {
    if (!this.permitsHost({ host, port })) throw forbidden()
  }

  /** Resolves names for a socket to this port. It gives permitted addresses only, so that what was checked is what is connected to, whatever the name means a moment later. */
  lookup(port: number): net.LookupFunction {
    return (hostname, options, callback) => {
      this.#resolve(hostname, { ...options, all: true }, (error, found) => {
        if (error !== null) return callback(error, [])
        const permitted = found.filter(({ address }) => this.permits(address, port))
        const [first] = permitted
        if (first === undefined) callback(forbidden(), [])
        else if (options.all) callback(null, permitted)
        else callback(null, first.address, first.family)
      })
    }
  }
}

function forbidden(): RtspError {
  return new RtspError('forbidden', 'cameras may not be called at this address')
}

function listOf(networks: readonly string[]): net.BlockList {
  const list = new net.BlockList()
  for (const network of networks) {
    const [address = '', prefix] = network.split('/')
    if (prefix === undefined) list.addAddress(address, familyOf(address))
    else list.addSubnet(address, Number(prefix), familyOf(address))
  }
  return list
}

/** An IPv4 address that is written as IPv6 (`::ffff:10.0.0.5`) counts as what it is. */
function contains(list: net.BlockList, address: string): boolean {
  const bare = withoutZone(address)
  return list.check(bare, familyOf(bare))
}

function isOfAnInterface(address: string): boolean {
  const mine = Object.values(os.networkInterfaces()).flatMap((entries) => entries ?? [])
  return contains(listOf(mine.map((entry) => withoutZone(entry.address))), address)
}

function withoutZone(address: string): string {
  return address.replace(/%.*$/, '')
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return net.isIPv4(address) ? 'ipv4' : 'ipv6'
}
