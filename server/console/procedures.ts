import type { Logger } from 'pino'
import type { Attention, SiteKeyView } from '../../shared/console/site.ts'
import type { Settings } from '../../shared/settings.ts'
import type { AccountAccess } from '../access/accounts/account-access.ts'
import type { Credentials } from '../access/credentials.ts'
import type { LicenceCheck } from '../access/licence.ts'
import type { Sessions } from '../access/sessions.ts'
import type { Capabilities } from '../capabilities/capabilities.ts'
import type { DeviceTable } from '../devices/device-table.ts'
import type { CameraSearch } from '../devices/discovery/camera-search.ts'
import type { OutgoingUsers } from '../devices/outgoing-users.ts'
import type { PictureRounds } from '../devices/pictures/picture-rounds.ts'
import type { Diagnostics } from '../diagnostics/diagnostics.ts'
import { certificateInfo, type SiteTls } from '../edge/tls.ts'
import type { SharedEventLog } from '../event-log/event-log.ts'
import type { PendingEvents } from '../event-log/pending-events.ts'
import { recordSignIns } from '../event-log/sources/access.ts'
import type { Listeners } from '../http/listeners.ts'
import type { OlderClients } from '../http/older-clients.ts'
import type { FaultRules } from '../lab/faults.ts'
import type { LabCameras } from '../lab/lab-cameras.ts'
import type { LabPeople } from '../lab/lab-people.ts'
import type { ScenarioRuns } from '../lab/scenarios/scenario-runs.ts'
import type { SimulatedPeople } from '../lab/simulated-people.ts'
import type { StuckDisk } from '../lab/stuck-disk.ts'
import type { TrafficRecorder } from '../lab/traffic/recorder.ts'
import type { ClientWatches } from '../lab/watch/client-watches.ts'
import type { EmbeddedNodes } from '../nodes/embedded/embedded-nodes.ts'
import type { GatewayRooms } from '../nodes/gateway/gateway-rooms.ts'
import type { JanusNodes } from '../nodes/janus/janus-nodes.ts'
import type { RelayedRooms } from '../nodes/janus/relay/relayed-rooms.ts'
import type { NodePool } from '../nodes/pool/node-pool.ts'
import type { FigureHistory } from '../observe/figures/figure-history.ts'
import type { RequestJournal } from '../observe/request-journal.ts'
import type { Samples } from '../observe/samples.ts'
import type { PhoneDependencies } from '../readiness/phone-check.ts'
import type { Readiness } from '../readiness/readiness.ts'
import type { OrderedMedia } from '../recordings/client-recordings/ordered-media.ts'
import type { ExportJobs } from '../recordings/export/export-jobs.ts'
import type { SiteRecordings } from '../recordings/site-recordings.ts'
import type { JoinLinks } from '../rooms/join-links.ts'
import type { OperatorMutes } from '../rooms/operator-mutes.ts'
import type { Removals } from '../rooms/removals.ts'
import type { Rooms } from '../rooms/room-lifecycle.ts'
import type { RoomViews } from '../rooms/room-views.ts'
import type { ScheduledRooms } from '../rooms/scheduled-rooms.ts'
import type { SiteTags } from '../rooms/tags.ts'
import type { WaitingGuests } from '../rooms/waiting-guests.ts'
import { isOutsideSchedule } from '../schedule/room-hours.ts'
import type { DatabaseRisk } from '../../shared/domain/database-risks.ts'
import { putSettings } from '../store/site-settings.ts'
import type { Store } from '../store/store.ts'
import type { Trash } from '../store/trash.ts'
import { accountHandlers } from './account-procedures.ts'
import { attentionOf } from './attention.ts'
import { cameraHandlers } from './camera-procedures.ts'
import { capabilityHandlers } from './capability-procedures.ts'
import { credentialHandlers, type CredentialRooms } from './credential-procedures.ts'
import { deviceHandlers } from './device-procedures.ts'
import type { Dispatch } from './dispatch.ts'
import type { EventHub } from './event-hub.ts'
import { eventHandlers } from './event-procedures.ts'
import { exportHandlers } from './export-procedures.ts'
import { firstRunHandlers, isFirstRun } from './first-run-procedures.ts'
import type { ProcedureHandlers } from './handlers.ts'
import { clientHandlers, labHandlers } from './lab-procedures.ts'
import { mediaHandlers, participantTokens } from './media-procedures.ts'
import { type Machine, nodeHandlers } from './node-procedures.ts'
import { orderHandlers } from './order-procedures.ts'
import { readinessHandlers } from './readiness-procedures.ts'
import { recordingHandlers } from './recording-procedures.ts'
import { roomHandlers, templateHandlers, waitingHandlers } from './room-procedures.ts'
import { scenarioHandlers } from './scenario-procedures.ts'
import { searchHandlers } from './search-procedures.ts'
import { RecentEvents, type SiteSearch } from './search/site-search.ts'
import { AppliedSettings, settingsHandlers } from './settings-procedures.ts'
import type { ControllerWatch } from './site-controllers.ts'
import { licenceOf, siteHandlers, UploadSpace } from './site-procedures.ts'
import { tagHandlers } from './tag-procedures.ts'
import { testerHandlers } from './tester-procedures.ts'
import { trashHandlers, TrashRestore } from './trash-procedures.ts'
import { wallHandlers } from './wall-procedures.ts'

interface ConsoleServices {
  pendingEvents: Pick<PendingEvents, 'caughtUp'>
  store: Store
  settings: () => Settings
  sessions: Pick<Sessions, 'total'>
  credentials: Credentials
  credentialRooms: CredentialRooms
  accountAccess: AccountAccess
  pool: NodePool
  /** Embedded nodes; undefined: none. */
  media: EmbeddedNodes | undefined
  janus: JanusNodes
  gateway: GatewayRooms
  guests: WaitingGuests
  mutes: OperatorMutes
  relayedRooms: RelayedRooms
  rooms: Rooms
  roomViews: RoomViews
  scheduled: Pick<ScheduledRooms, 'coming'>
  search: SiteSearch
  tags: SiteTags
  joinLinks: JoinLinks
  removals: Pick<Removals, 'revokeLinks'>
  capabilities: Capabilities
  outgoing: OutgoingUsers
  hub: EventHub
  trash: Trash
  licence: Pick<LicenceCheck, 'expired'>
  deviceTable: DeviceTable
  cameraSearch: CameraSearch
  labCameras: LabCameras
  labPeople: LabPeople
  people: SimulatedPeople
  scenarios: ScenarioRuns
  faults: FaultRules
  traffic: TrafficRecorder
  clientWatches: ClientWatches
  stuckDisk: StuckDisk
  pictures: PictureRounds
  recordings: SiteRecordings
  orders: OrderedMedia
  journal: RequestJournal
  samples: Samples
  figures: Pick<FigureHistory, 'view' | 'busy'>
  olderClients: OlderClients
}

/** Constant properties of the running controller. */
interface ControllerFacts {
  version: string
  /** Start of the controller, in milliseconds since the epoch. */
  startedAt: number
  folder: string
  key: SiteKeyView
  databaseRisk: DatabaseRisk | undefined
}

export interface ConsoleDependencies {
  services: ConsoleServices
  /** Calls a procedure, for the steps of a scenario. */
  dispatch: Dispatch
  listeners: Listeners
  tls: SiteTls
  events: SharedEventLog
  controllers: ControllerWatch
  machine: Machine
  readiness: Readiness
  phone: PhoneDependencies
  diagnostics: Diagnostics
  facts: ControllerFacts
  /** Times of the last restarts after a crash, in milliseconds since the epoch. */
  restarts: readonly number[]
  logger: Logger
  /** Exports of recordings; undefined if their folder is unusable. */
  exports: ExportJobs | undefined
  /** Replaces the console key; undefined: no console key. */
  replaceKey: (() => { key: string; file: string }) | undefined
}

/** Composes the handlers of all procedures. */
export function consoleHandlers(dependencies: ConsoleDependencies): ProcedureHandlers {
  const { services, listeners, tls, facts, machine, logger, replaceKey } = dependencies
  const { store, settings, pool, outgoing, trash } = services
  const applying = { store, listeners, folder: facts.folder, tls, logger }
  const applied = new AppliedSettings(applying)
  return {
    ...siteHandlers({
      capabilities: services.capabilities,
      store,
      applied,
      pool,
      samples: services.samples,
      figures: services.figures,
      controller: () => dependencies.controllers.name,
      attention: () => attentionNow(dependencies),
      listeners,
      tls,
      tlsMode: () => settings().tls.mode,
      facts,
      counts: () => counts(services),
      uploads: new UploadSpace({
        folder: facts.folder,
        recordings: () => {
          const { storage } = services.recordings
          return storage && { folder: storage.folder, reserve: storage.watch.space.reserve }
        },
      }),
      olderClients: services.olderClients,
      fresh: () => isFirstRun(settings(), store),
      dismissWelcome: () =>
        store.transact(['settings'], (transaction) => {
          const before = settings()
          putSettings(transaction, { ...before, console: { ...before.console, welcome_done: true } }, store)
        }),
      replaceKey,
    }),
    ...firstRunHandlers({ ...services, host: dependencies.phone.host }),
    ...settingsHandlers(applying, applied),
    ...accountHandlers({ store, ...services.accountAccess, signIns: recordSignIns(dependencies.events) }),
    ...credentialHandlers({ ...services, listeners }),
    ...roomHandlers({ ...services, logger }),
    ...tagHandlers({ ...services, logger }),
    ...waitingHandlers(services.rooms, services.guests),
    ...nodeHandlers(store, pool, machine, trash, services.relayedRooms),
    'controllers.list': () => dependencies.controllers.list(),
    'controllers.lead': ({ id }) => dependencies.controllers.lead(id),
    ...readinessHandlers(dependencies.readiness, dependencies.phone, dependencies.diagnostics),
    ...deviceHandlers(outgoing, services.deviceTable, services.cameraSearch, services.tags, trash, logger),
    ...cameraHandlers({ ...services, events: dependencies.events }),
    ...mediaHandlers({
      ...services,
      remoteMedia: services.relayedRooms.media,
      letIn: participantTokens(services),
    }),
    ...capabilityHandlers(services.capabilities, store),
    ...exportHandlers({
      capabilities: services.capabilities,
      exports: dependencies.exports,
      index: () => services.recordings.usable.index,
      log: dependencies.events,
    }),
    ...recordingHandlers({ ...services, log: dependencies.events }),
    ...orderHandlers(services.orders, store),
    ...templateHandlers(store),
    ...wallHandlers(store, services.hub, trash),
    ...searchHandlers({ ...services, events: new RecentEvents(dependencies.events) }),
    ...trashHandlers(trash, settings, new TrashRestore(services), logger),
    ...eventHandlers(dependencies.events, services.pendingEvents, services.journal),
    ...labHandlers(services),
    ...clientHandlers(services.clientWatches, store, facts.version),
    ...scenarioHandlers({
      ...services,
      log: dependencies.events,
      presence: pool.presence,
      deviceState: (userId) => outgoing.view(userId)?.state ?? '',
      product: facts.version,
      dispatch: dependencies.dispatch,
    }),
    ...testerHandlers({ ...services, listeners, tls }),
  }
}

/** Lists everything that requires the operator's attention now. */
export function attentionNow({
  services,
  listeners,
  tls,
  restarts,
  events,
  controllers,
  facts,
}: Pick<
  ConsoleDependencies,
  'services' | 'listeners' | 'tls' | 'restarts' | 'events' | 'controllers' | 'facts'
>): Attention[] {
  const { store, pool, outgoing, faults, settings } = services
  const { people, devices } = pool.presence.totals()
  return attentionOf({
    now: Date.now(),
    store: store.status(),
    medium: controllers.medium(),
    nodes: pool.nodes.views(),
    // Cameras are expected to be offline while their room is outside its schedule.
    devices: outgoing.views().filter(({ roomId }) => !isOutsideSchedule(store.get('rooms', roomId))),
    listeners: listeners.views(),
    licence: licenceOf(store),
    rooms: store.all('rooms').size,
    users: people + devices,
    certificateProblem: tls.problem(),
    authorityChange: tls.material?.change,
    certificateEnds: certificateInfo(settings().tls.mode, tls.material).expires_at,
    faults: faults.list().length,
    olderClients: services.olderClients.view(),
    restarts,
    eventLog: events.status(),
    keyUnprotected: facts.key.unprotected,
    databaseRisk: facts.databaseRisk,
    recordings: services.recordings.health.problems(),
    behindTls: settings().media.public_url.startsWith('https:'),
    guests: services.guests.list(),
    busy: services.figures.busy,
  })
}

function counts({ store, pool, outgoing, sessions }: ConsoleServices) {
  const { people } = pool.presence.totals()
  return {
    rooms: store.all('rooms').size,
    credentials: store.all('credentials').size,
    nodes: store.all('nodes').size,
    nodes_online: pool.nodes.views().filter(({ state }) => state === 'online' || state === 'draining').length,
    devices: store.all('devices').size,
    devices_joined: outgoing.fleet.countByState().joined,
    people,
    sessions: sessions.total,
  }
}
