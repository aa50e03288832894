import { leavesMachine } from '../../shared/bind-address.ts'
import type { ProcedureOutput } from '../../shared/console/contract.ts'
import { lanHosts } from '../edge/network-addresses.ts'
import { type Check, found } from './readiness.ts'
import { at } from './port-checks.ts'
import { randomBytes } from 'node:crypto'
import { networkInterfaces } from 'node:os'
import type { PhonePage } from '../../shared/console/readiness.ts'
import { reachPath } from '../../shared/media/reach-page.ts'

export interface PhoneDependencies {
  visits: PhoneVisits
  host: () => string
  /** URL of the node port, where people join; empty: no media program serves pages here. */
  nodeUrl: () => string
  /** Whether this machine created its certificate itself. */
  isSelfSigned: () => boolean
}

/** Maximum number of addresses offered. */
const maxUrls = 8

/** Checks whether another device has opened the page of `phonePageOf`. */
export function phoneCheck({ visits, host, nodeUrl }: PhoneDependencies): Check {
  return async () => {
    if (!leavesMachine(host())) return found('phoneLocal')
    if (nodeUrl() === '') return found('phoneNoPage')
    const { arrived } = visits
    if (arrived?.own === false) return found('phoneArrived', { client: arrived.client })
    return lanHosts(host()).length === 0 ? found('phoneNoNetwork') : found('phoneWaiting')
  }
}

/** Returns the addresses of the page that another device should open. */
export function phonePageOf({
  visits,
  host,
  nodeUrl,
  isSelfSigned,
}: PhoneDependencies): ProcedureOutput<'readiness.phone'> {
  const url = nodeUrl()
  const hosts = url === '' ? [] : lanHosts(host()).slice(0, maxUrls)
  return {
    urls: hosts.map((address) => `${at(url, address)}${visits.path}`),
    warns: url.startsWith('https:') && isSelfSigned(),
    arrived: visits.arrived ?? null,
  }
}

type Arrival = NonNullable<PhonePage['arrived']>

/** Stores the device that last opened the page, which tests whether other devices reach this machine. */
export class PhoneVisits {
  /** Part of the page's address, so that visits to old pages and guessed addresses do not count. */
  readonly #token = randomBytes(9).toString('hex')
  readonly #listeners = new Set<(arrival: Arrival) => void>()
  #arrived: Arrival | undefined

  /** Last other device that opened the page; this machine only if no other device has opened it. */
  get arrived(): Arrival | undefined {
    return this.#arrived
  }

  get path(): string {
    return `${reachPath}${this.#token}`
  }

  /** Calls `listener` with each arrival. */
  onArrival(listener: (arrival: Arrival) => void): void {
    this.#listeners.add(listener)
  }

  /** Records a visit to the page, reported by a media program. */
  take({ token, client }: { token: string; client: string }): void {
    if (token !== this.#token) return
    const own = isOwnAddress(client)
    // A visit from this machine does not prove that other devices reach it, and does not replace the visit of another
    // device.
    if (own && this.#arrived?.own === false) return
    this.#arrived = { client, own, at: Date.now() }
    for (const listener of this.#listeners) listener(this.#arrived)
  }
}

/** Whether an address belongs to a network card of this machine. */
function isOwnAddress(client: string): boolean {
  return Object.values(networkInterfaces()).some((list) => (list ?? []).some(({ address }) => address === client))
}
