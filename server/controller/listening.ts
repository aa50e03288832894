import type { Settings } from '../../shared/settings.ts'
import { CertificateWatch } from '../edge/certificate-watch.ts'
import { outsideUrl } from '../edge/network-addresses.ts'
import { type SiteTls, siteTls, tlsMaterial, type TlsMaterial } from '../edge/tls.ts'
import type { EventSink } from '../event-log/event-log.ts'
import { ListenerWatch } from '../event-log/sources/controllers.ts'
import { type ListenerName, Listeners, type Port } from '../http/listeners.ts'
import type { ControllerPlace } from '../store/election/site-member.ts'
import type { OpenedSite } from './open-site.ts'
import { type ControllerOptions, servesConsole } from './options.ts'
import type { Services } from './services.ts'

/** Listeners of a controller, and their certificate. */
export interface Listening {
  listeners: Listeners
  tls: SiteTls
  certificate: CertificateWatch
  listenerWatch: ListenerWatch
  /** Returns the addresses at which other controllers reach this controller. */
  place: () => ControllerPlace
  /** Announces the addresses of `place` to the other controllers of the site. */
  announce: () => void
}

export interface ListeningDependencies {
  options: Pick<
    ControllerOptions,
    'overrides' | 'restarts' | 'dataFolder' | 'logger' | 'certificateLookMs' | 'consoleIsChosen' | 'consolePage'
  >
  ports: Partial<Record<ListenerName, Port>>
  /** Certificate of the site; undefined: plain HTTP. */
  material: TlsMaterial | undefined
  leader: OpenedSite | undefined
  services: Pick<Services, 'hub' | 'media'>
  events: EventSink
  settings: () => Settings
  host: () => string
}

/** Composes the listeners without opening their ports. */
export function openListening(dependencies: ListeningDependencies): Listening {
  const { options, leader, services, settings } = dependencies
  const tls = siteTls(
    dependencies.material,
    () => certificate.problem,
    () => announce(),
  )
  const listenerWatch = new ListenerWatch(dependencies.events)
  const changed = (): void => {
    services.hub.emit('listeners.changed', {})
    listenerWatch.look(listeners.views())
    // The embedded node must not connect to ports of the site, so it receives a list of these ports.
    services.media?.configure()
    announce()
  }
  const listeners = new Listeners(
    dependencies.ports,
    options.overrides ?? {},
    changed,
    leader?.ports ?? options.restarts?.ports,
    (name, wanted) => name !== 'console' || servesConsole(options, wanted),
  )
  const place = (): ControllerPlace =>
    controllerPlace(listeners, dependencies.host(), tls.material ?? leader?.proof.tls)
  const announce = (): void => leader?.placed(place())
  const certificate = new CertificateWatch({
    read: () => tlsMaterial(settings(), options.dataFolder),
    current: () => tls.material,
    use: async (material) => {
      tls.material = material
      await listeners.secure(material)
      services.hub.emit('listeners.changed', {})
    },
    changed: () => services.hub.emit('listeners.changed', {}),
    log: options.logger,
    everyMs: options.certificateLookMs,
  })
  return { listeners, tls, certificate, listenerWatch, place, announce }
}

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
