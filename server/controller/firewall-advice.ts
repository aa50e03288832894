import { leavesMachine } from '../../shared/bind-address.ts'
import type { Settings } from '../../shared/settings.ts'
import type { ListenerName, ListenerOverrides } from '../http/listeners.ts'
import { neededPorts } from '../readiness/needed-ports.ts'

/**
 * Advice for the log on a firewall that keeps other machines from connecting, in one line; undefined for a site that listens on loopback only.
 * @param hasConsole its console has a port
 */
export function firewallAdvice(
  { listeners, media }: Pick<Settings, 'listeners' | 'media'>,
  overrides: ListenerOverrides,
  { hasConsole, platform = process.platform }: { hasConsole: boolean; platform?: NodeJS.Platform },
): string | undefined {
  const host = overrides.host ?? listeners.host
  if (!leavesMachine(host)) return undefined
  const open = `Other machines may connect: it listens on ${host}.`
  if (platform === 'win32')
    return `${open} Windows asks whether Roomdesk may communicate on networks: allow private networks, or they cannot reach it.`
  if (platform === 'darwin')
    return `${open} macOS asks whether Roomdesk may accept incoming connections and find devices on the local network: allow both, or they cannot reach it.`
  const portOf = (name: ListenerName): number => overrides[`${name}_port`] ?? listeners[`${name}_port`] ?? 0
  const named = neededPorts({ media }, portOf, hasConsole).map(({ kind, port, use }) => `${kind} ${port} (${use})`)
  return `${open} Where this machine has a firewall, let in ${named.join(', ') || 'the ports that the overview names'}.`
}
