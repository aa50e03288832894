import { leavesMachine } from '../../shared/bind-address.ts'
import type { ProcedureOutput } from '../../shared/console/contract.ts'
import { lanHosts } from '../edge/network-addresses.ts'
import { type Check, found } from './finding.ts'
import { at } from './port-check.ts'
import { randomBytes } from 'node:crypto'
import { networkInterfaces } from 'node:os'
import type { PhonePage } from '../../shared/console/readiness.ts'
import { reachPath } from '../../shared/media/reach-page.ts'

/** Needs of the check whether another device reaches this machine. */
export interface PhoneParts {
  visits: PhoneVisits
  /** Bind address. */
  host: () => string
  /** URL of the node port, where people join; empty: no media program shows pages here. */
  nodeUrl: () => string
  /** This machine made its certificate itself. */
  isSelfSigned: () => boolean
}

/** Maximum number of addresses that are offered. */
const maxUrls = 8

/** Checks whether another device has opened the page of `phonePageOf`. */
export function phoneCheck({ visits, host, nodeUrl }: PhoneParts): Check {
  return async () => {
    if (!leavesMachine(host())) return found('phoneLocal')
    if (nodeUrl() === '') return found('phoneNoPage')
    const { arrived } = visits
    if (arrived?.own === false) return found('phoneArrived', { client: arrived.client })
    return lanHosts(host()).length === 0 ? found('phoneNoNetwork') : found('phoneWaiting')
  }
}

/** Addresses of the page that another device is to open. */
export function phonePageOf({ visits, host, nodeUrl, isSelfSigned }: PhoneParts): ProcedureOutput<'readiness.phone'> {
  const url = nodeUrl()
  const hosts = url === '' ? [] : lanHosts(host()).slice(0, maxUrls)
  return {
    urls: hosts.map((address) => `${at(url, address)}${visits.path}`),
    warns: url.startsWith('https:') && isSelfSigned(),
    arrived: visits.arrived ?? null,
  }
}

type Arrival = NonNullable<PhonePage['arrived']>

/** Remembers which device last opened the page that shows whether others reach this machine. */
export class PhoneVisits {
  /** In the address of the page, so that old pages and guesses do not count. */
  readonly #token = randomBytes(9).toString('hex')
  readonly #listeners = new Set<(arrival: Arrival) => void>()
  #arrived: Arrival | undefined

  /** Last device that opened the page. */
  get arrived(): Arrival | undefined {
    return this.#arrived
  }

  /** Path of the page. */
  get path(): string {
    return `${reachPath}${this.#token}`
  }

  /** Calls `listener` with each arrival. */
  onArrival(listener: (arrival: Arrival) => void): void {
    this.#listeners.add(listener)
  }

  /** Takes a request of the page, from a media program. */
  take({ token, client }: { token: string; client: string }): void {
    if (token !== this.#token) return
    const own = isOwnAddress(client)
    // This machine's own browser proves nothing, and hides no device that came before.
    if (own && this.#arrived?.own === false) return
    this.#arrived = { client, own, at: Date.now() }
    for (const listener of this.#listeners) listener(this.#arrived)
  }
}

/** Tells whether an address is one of this machine's network cards. */
function isOwnAddress(client: string): boolean {
  return Object.values(networkInterfaces()).some((list) => (list ?? []).some(({ address }) => address === client))
}
