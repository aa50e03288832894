import dns from 'node:dns'
import net from 'node:net'
import os from 'node:os'
import { RtspError } from './rtsp-error.ts'

/** Restrictions on camera addresses. */
export interface AllowedAddressesOptions {
  /** Allowed IP addresses and networks in CIDR notation; empty: any. */
  networks: readonly string[]
  /** Ports of this site; connections to these ports of this machine are forbidden. */
  sitePorts: readonly number[]
  /** IP addresses that lead to this machine in addition to its interface addresses, e.g. through NAT. */
  siteAddresses: readonly string[]
  /** Resolver; omitted: the system's. */
  resolve?: typeof dns.lookup
}

/**
 * Addresses that lead to this machine regardless of its interfaces (RFC 1122, section 3.2.1.3; RFC 4291, sections 2.5.2
 * and 2.5.3).
 */
const loopback = ['127.0.0.0/8', '0.0.0.0/8', '::1', '::']

/**
 * Restricts the addresses to which the node may connect for a camera. Without this restriction, a user could reach an
 * internal host, or this site itself, by entering its address as a camera.
 */
export class AllowedAddresses {
  readonly #networks: net.BlockList | undefined
  readonly #sitePorts: ReadonlySet<number>
  readonly #here: net.BlockList
  readonly #resolve: typeof dns.lookup

  /** @throws Error if a network is malformed; settings are validated before */
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

  /**
   * Whether a camera may redirect to another host. This requires networks configured by the operator. Otherwise a
   * camera could make the node connect to any machine.
   */
  get allowOtherHosts(): boolean {
    return this.#networks !== undefined
  }

  /** Whether the node may connect to a host. Returns true for names, whose addresses `lookup` checks. */
  permitsHost({ host, port }: { host: string; port: number }): boolean {
    return net.isIP(host) === 0 || this.permits(host, port)
  }

  /** @throws RtspError 'forbidden' if the host is an IP address that is not allowed */
  check(host: string, port: number): void {
    if (!this.permitsHost({ host, port })) throw forbidden()
  }

  /**
   * Returns a resolver for a socket to this port. The resolver returns allowed addresses only, so the socket connects
   * to a checked address even if the name resolves differently a moment later.
   */
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

/** Whether the list has an address. An IPv4-mapped IPv6 address (`::ffff:10.0.0.5`) counts as IPv4. */
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
