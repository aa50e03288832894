import type { Logger } from 'pino'
import type { Attention, SiteKeyView } from '../../shared/console/site.ts'
import type { Listeners } from '../http/listeners.ts'
import type { EventLog } from '../event-log/event-log.ts'
import { tellSignIns } from '../event-log/sources/sign-ins.ts'
import type { Restarts } from './restarts.ts'
import type { Services } from './services.ts'
import type { DatabaseRisk } from '../store/postgres/database-safety.ts'
import { certificateInfo, type SiteTls } from '../edge/tls.ts'
import { accountHandlers } from '../console/account-procedures.ts'
import { isCamera } from '../console/camera-streams.ts'
import { activityHandlers } from '../console/activity-procedures.ts'
import { AppliedSettings } from '../console/applied-settings.ts'
import { attentionOf } from '../console/attention.ts'
import { controllerHandlers } from '../console/controller-procedures.ts'
import { credentialHandlers } from '../console/credential-procedures.ts'
import { eventHandlers } from '../console/event-procedures.ts'
import { deviceHandlers } from '../console/device-procedures.ts'
import type { Handlers } from '../console/handlers.ts'
import { labHandlers } from '../console/lab-procedures.ts'
import { mediaHandlers } from '../console/media-procedures.ts'
import { relayHandlers } from '../console/relay-procedures.ts'
import { type Machine, nodeHandlers } from '../console/node-procedures.ts'
import { participantTokens } from '../console/participant-tokens.ts'
import { roomHandlers } from '../console/room-procedures.ts'
import type { ControllerWatch } from '../console/site-controllers.ts'
import { settingsHandlers } from '../console/settings-procedures.ts'
import { licenceOf, siteHandlers } from '../console/site-procedures.ts'
import { putSettings } from '../store/site-settings.ts'
import { testerHandlers } from '../console/tester-procedures.ts'
import { wallHandlers } from '../console/wall-procedures.ts'

/** What the operator's procedures work on. */
export interface ConsoleParts {
  services: Services
  listeners: Listeners
  tls: SiteTls
  events: EventLog
  controllers: ControllerWatch
  machine: Machine
  facts: {
    version: string
    startedAt: number
    folder: string
    key: SiteKeyView
    databaseRisk: DatabaseRisk | undefined
  }
  /** What the process before this one told, when it started itself again. */
  restarts: Restarts | undefined
  logger: Logger
  replaceKey: (() => string) | undefined
}

/** The code of every procedure. */
export function consoleHandlers(parts: ConsoleParts): Handlers {
  const { services, listeners, tls, facts, machine, logger, replaceKey } = parts
  const { store, settings, pool, outgoing, credentials } = services
  const applying = { store, listeners, folder: facts.folder, tls }
  const applied = new AppliedSettings(applying)
  return {
    ...siteHandlers({
      store,
      applied,
      pool,
      samples: services.samples,
      attention: () => attentionNow(parts),
      listeners,
      tls,
      tlsMode: () => settings().tls.mode,
      facts,
      counts: () => counts(services),
      olderClients: services.olderClients,
      fresh: () => !settings().console.welcome_done && store.all('rooms').size === 0,
      dismissWelcome: () =>
        store.transact(['settings'], (transaction) => {
          const before = settings()
          putSettings(transaction, { ...before, console: { ...before.console, welcome_done: true } }, store)
        }),
      replaceKey,
    }),
    ...settingsHandlers(applying, applied),
    ...accountHandlers({ store, ...services.accountAccess, signIns: tellSignIns(parts.events) }),
    ...credentialHandlers({
      credentials,
      roomsOf: (accessKey) => services.credentialRooms.count(accessKey),
      settings,
      mediaUrl: () => listeners.url('media'),
    }),
    ...roomHandlers(services.rooms, services.roomViews, logger),
    ...nodeHandlers(store, pool, machine),
    ...controllerHandlers(parts.controllers),
    ...relayHandlers(services.cascades),
    ...deviceHandlers(outgoing, services.deviceTable, logger),
    ...mediaHandlers({
      media: services.media,
      nodeOf: (roomId) => store.get('rooms', roomId)?.node ?? '',
      front: services.front,
      joinLinks: services.joinLinks,
      letIn: participantTokens({ store, rooms: services.rooms, pool, janus: services.janus, settings }),
      outgoing,
      settings,
      isCamera: (roomId, streamId) => isCamera(store, roomId, streamId),
    }),
    ...wallHandlers(store),
    ...activityHandlers(services.journal),
    ...eventHandlers(parts.events),
    ...labHandlers(store, services.people, services.faults),
    ...testerHandlers({
      credentials,
      settings,
      url: (name) => listeners.url(name),
      certificate: () => tls.material?.cert,
    }),
  }
}

/** What wants the operator's eye now. */
export function attentionNow({
  services,
  listeners,
  tls,
  restarts,
  events,
  controllers,
  facts,
}: Pick<
  ConsoleParts,
  'services' | 'listeners' | 'tls' | 'restarts' | 'events' | 'controllers' | 'facts'
>): Attention[] {
  const { store, pool, outgoing, faults, settings } = services
  const { people, devices } = pool.totals()
  return attentionOf({
    now: Date.now(),
    store: store.status(),
    medium: controllers.medium(),
    nodes: pool.views(),
    devices: outgoing.views(),
    listeners: listeners.views(),
    licence: licenceOf(store),
    rooms: store.all('rooms').size,
    users: people + devices,
    certificateProblem: tls.problem(),
    authorityChange: tls.material?.change,
    certificateEnds: certificateInfo(settings().tls.mode, tls.material).expires_at,
    faults: faults.list().length,
    olderClients: services.olderClients.view(),
    restarts: restarts?.times ?? [],
    eventLog: events.status(),
    keyUnprotected: facts.key.unprotected,
    databaseRisk: facts.databaseRisk,
  })
}

function counts({ store, pool, outgoing, sessions }: Services) {
  const { people } = pool.totals()
  return {
    rooms: store.all('rooms').size,
    credentials: store.all('credentials').size,
    nodes: store.all('nodes').size,
    nodes_online: pool.views().filter(({ state }) => state === 'online' || state === 'draining').length,
    devices: store.all('devices').size,
    devices_joined: outgoing.countByState().joined,
    people,
    sessions: sessions.total,
  }
}
