import { restartPortAbove } from '../../shared/media/ports.ts'
import type { Settings } from '../../shared/settings.ts'
import type { ListenerName } from '../http/listeners.ts'

/** Port that a firewall must allow. */
export interface NeededPort {
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
