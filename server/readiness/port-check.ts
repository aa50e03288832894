import http from 'node:http'
import https from 'node:https'
import type { OverviewView } from '../../shared/console/site.ts'
import { lanHosts, portOfUrl } from '../edge/network-addresses.ts'
import { asOwnProbe } from '../edge/own-probes.ts'
import { leavesMachine } from '../../shared/bind-address.ts'
import { type Check, found } from './finding.ts'

export interface CheckedPorts {
  host: () => string
  views: () => OverviewView['listeners']
}

/** Timeout of a port's response, in milliseconds. */
const answerMs = 3_000

/** Checks whether all ports are open, and respond at an address by which other devices reach this machine. */
export function portCheck({ host, views }: CheckedPorts): Check {
  return async (signal) => {
    const failed = views().filter(({ state }) => state === 'failed')
    if (failed.length > 0) {
      const ports = failed.map(({ name }) => name).join(', ')
      return found('portsDown', { ports, reason: failed[0]?.error ?? '' })
    }
    const listening = views().filter(({ url }) => url !== '')
    const isOpen = leavesMachine(host())
    const [address = isOpen ? '' : '127.0.0.1'] = lanHosts(host())
    if (address === '') return found('portsNoNetwork')
    const asked = await Promise.all(
      listening.map(async ({ name, url }) => ({
        name,
        answers: await asOwnProbe((headers) => answers(isOpen ? at(url, address) : url, headers, signal)),
      })),
    )
    const silent = asked.filter(({ answers: answered }) => !answered).map(({ name }) => name)
    if (silent.length > 0) return found('portsSilent', { address, ports: silent.join(', ') })
    const count = listening.length
    return isOpen ? found('portsReachable', { count, address }) : found('portsLocal', { count })
  }
}

/** Returns the URL of a listener at another address of this machine. */
export function at(url: string, address: string): string {
  const { protocol } = new URL(url)
  return `${protocol}//${address.includes(':') ? `[${address}]` : address}:${portOfUrl(url)}`
}

/** Whether a port responds over HTTP, with any status. */
async function answers(url: string, headers: Record<string, string>, signal: AbortSignal): Promise<boolean> {
  const { request } = url.startsWith('https:') ? https : http
  // Any certificate is accepted: only the response matters, and nothing confidential is sent.
  const options = { method: 'HEAD', headers, agent: false, rejectUnauthorized: false, timeout: answerMs, signal }
  return await new Promise((resolve) => {
    const sent = request(`${url}/`, options, (response) => {
      response.resume()
      sent.destroy()
      resolve(true)
    })
    sent.on('timeout', () => sent.destroy(new Error('no answer')))
    sent.on('error', () => resolve(false))
    sent.end()
  })
}
