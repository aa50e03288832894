import { leavesMachine } from '../../shared/bind-address.ts'
import type { ProcedureOutput } from '../../shared/console/contract.ts'
import { lanHosts } from '../edge/network-addresses.ts'
import { type Check, found } from './finding.ts'
import type { PhoneVisits } from './phone-visits.ts'
import { at } from './port-check.ts'

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
