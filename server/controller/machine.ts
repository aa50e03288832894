import { availableParallelism } from 'node:os'
import type { Settings } from '../../shared/settings.ts'
import type { Machine } from '../console/node-procedures.ts'
import type { ControllerOptions } from './options.ts'
import { boundUrl, portOfUrl } from '../edge/network-addresses.ts'
import type { ListenerName, Listeners } from '../http/listeners.ts'
import type { EmbeddedNodes } from '../nodes/embedded/embedded-nodes.ts'

/** Facts about the machine of a controller, for the console. */
export function machineOf(
  { cores, overrides = {} }: Pick<ControllerOptions, 'cores' | 'overrides'>,
  listeners: Listeners,
  settings: () => Settings,
): Machine {
  const host = (): string => overrides.host ?? settings().listeners.host
  return {
    eventUrl: () => boundUrl(listeners.url('event'), host()),
    cores: () => cores ?? availableParallelism(),
    host,
    ports: () => listeners.ports(),
    settings,
    nodePort: () => firstPort(portOfUrl(listeners.url('node')), overrides.node_port, settings().listeners.node_port),
  }
}

/** Open connections by listener; those of further nodes count as the node's. */
export async function openConnections(
  listeners: Listeners,
  media: Pick<EmbeddedNodes, 'furtherConnections'> | undefined,
): Promise<Partial<Record<ListenerName, number>>> {
  const [counted, further] = await Promise.all([listeners.connections(), media?.furtherConnections() ?? 0])
  return further === 0 ? counted : { ...counted, node: (counted.node ?? 0) + further }
}

/** First of these that is a port number above 0; 0: none is. */
function firstPort(...ports: (number | undefined)[]): number {
  return ports.find((port) => port !== undefined && port > 0) ?? 0
}
