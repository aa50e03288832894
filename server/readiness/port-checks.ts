import http from 'node:http'
import https from 'node:https'
import { leavesMachine } from '../../shared/bind-address.ts'
import type { OverviewView } from '../../shared/console/site.ts'
import { restartPortAbove } from '../../shared/media/ports.ts'
import type { Settings } from '../../shared/settings.ts'
import { lanHosts, portOfUrl } from '../edge/network-addresses.ts'
import { asOwnProbe } from '../edge/own-probes.ts'
import type { ListenerName } from '../http/listeners.ts'
import { type Check, found } from './readiness.ts'

interface CheckedPorts {
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

/** Port that a firewall must allow. */
interface NeededPort {
  kind: 'TCP' | 'UDP'
  port: number
  use: string
}

/**
 * Returns the ports to which other machines connect. A port picked by the system is omitted, because it changes at the
 * next start.
 * @param portOf port of a listener; 0: unknown
 */
export function neededPorts(
  { media }: Pick<Settings, 'media'>,
  portOf: (name: ListenerName) => number,
  hasConsole: boolean,
): NeededPort[] {
  const node = portOf('node')
  const udp = media.udp_port === 0 ? node : media.udp_port
  const ports: NeededPort[] = [
    { kind: 'TCP', port: portOf('media'), use: 'media API' },
    { kind: 'TCP', port: portOf('device'), use: 'device API' },
    ...(hasConsole ? [{ kind: 'TCP' as const, port: portOf('console'), use: 'console' }] : []),
    { kind: 'TCP', port: node, use: 'media node' },
    { kind: 'UDP', port: udp, use: 'media' },
    { kind: 'UDP', port: udp === 0 ? 0 : udp + restartPortAbove, use: 'media after a change of networks' },
  ]
  return ports.filter(({ port }) => port > 0)
}
