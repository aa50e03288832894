import { outsideUrl } from '../edge/network-addresses.ts'
import type { TlsMaterial } from '../edge/tls.ts'
import type { ListenerName, Listeners } from '../http/listeners.ts'
import type { ControllerPlace } from '../store/election/site-member.ts'

/**
 * Returns the addresses at which other controllers reach this controller.
 * @param host bind address or wildcard
 * @param material certificate of the listeners
 */
export function controllerPlace(
  listeners: Pick<Listeners, 'url'>,
  host: string,
  material: TlsMaterial | undefined,
): ControllerPlace {
  const at = (name: ListenerName): string => outsideUrl(listeners.url(name), host)
  return {
    media: at('media'),
    device: at('device'),
    node: at('node'),
    console: at('console'),
    event: at('event'),
    certificate: material?.cert ?? '',
  }
}
