import { leavesMachine } from '../../shared/bind-address.ts'
import { restartPortAbove } from '../../shared/media/ports.ts'
import type { Settings } from '../../shared/settings.ts'
import type { ListenerOverrides } from '../http/listeners.ts'

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
  const portOf = (name: 'media' | 'device' | 'node' | 'console'): number =>
    overrides[`${name}_port`] ?? listeners[`${name}_port`]
  const node = portOf('node')
  const udp = media.udp_port === 0 ? node : media.udp_port
  const ports = [
    ['TCP', portOf('media'), 'media API'],
    ['TCP', portOf('device'), 'device API'],
    ...(hasConsole ? [['TCP', portOf('console'), 'console'] as const] : []),
    ['TCP', node, 'media node'],
    ['UDP', udp, 'media'],
    ['UDP', udp === 0 ? 0 : udp + restartPortAbove, 'media after a change of networks'],
  ] as const
  // A port that the system picks is another one after the next start.
  const named = ports.filter(([, port]) => port > 0).map(([kind, port, what]) => `${kind} ${port} (${what})`)
  return `${open} Where this machine has a firewall, let in ${named.join(', ') || 'the ports that the overview names'}.`
}
