import { inBackground } from '../../shared/unawaited.ts'
import { LicenceCheck } from '../access/licence.ts'
import { licenceOf } from '../console/site-procedures.ts'
import { Capabilities } from '../capabilities/capabilities.ts'
import { HolderPages } from '../capabilities/holder-pages.ts'
import { CredentialRooms } from '../console/credential-procedures.ts'
import { EventHub } from '../console/event-hub.ts'
import { CameraSearch } from '../devices/discovery/camera-search.ts'
import { DeviceTable } from '../devices/device-table.ts'
import { OutgoingUsers } from '../devices/outgoing-users.ts'
import { PictureRounds } from '../devices/pictures/picture-rounds.ts'
import type { GatedSink } from '../event-log/gathering-sink.ts'
import type { PeopleNames } from '../event-log/site-state.ts'
import { PendingEvents, type PendingEventsDependencies } from '../event-log/pending-events.ts'
import type { ClientEvents } from '../event-log/sources/clients.ts'
import { SiteWatch } from '../event-log/watch-site.ts'
import { implementFieldOperations } from '../apis/field-operations.ts'
import type { MediaServices } from '../apis/media-operations.ts'
import type { FixedCompatibility } from '../http/older-clients.ts'
import type { AnyOperation } from '../http/operation.ts'
import { lanAddresses } from '../edge/network-addresses.ts'
import { FaultRules } from '../lab/faults.ts'
import { SimulatedPeople } from '../lab/simulated-people.ts'
import type { ApiAddresses } from '../lab/scenarios/clients.ts'
import { ScenarioRuns } from '../lab/scenarios/scenario-runs.ts'
import type { CallProcedure } from '../lab/scenarios/site-changes.ts'
import type { StuckDisk } from '../lab/stuck-disk.ts'
import { LabCameras } from '../lab/lab-cameras.ts'
import { LabPeople } from '../lab/lab-people.ts'
import { TrafficRecorder } from '../lab/traffic/recorder.ts'
import { ClientWatches } from '../lab/watch/client-watches.ts'
import { authenticateHandler } from '../apis/authenticate.ts'
import type { SiteMember } from '../store/election/site-member.ts'
import { type AccessOptions, type AccessDependencies, accessParts } from './access.ts'
import { SiteTags } from '../rooms/tags.ts'
import { LocalFfmpeg } from '../nodes/embedded/ffmpeg/ffmpeg-program.ts'
import { SiteSearch } from '../console/search/site-search.ts'
import type { SiteRecordings } from '../recordings/site-recordings.ts'
import {
  type MediaOrderDependencies,
  mediaOrderParts,
  type SiteRecorder,
} from '../recordings/client-recordings/media-orders.ts'
import type { OrderedMedia } from '../recordings/client-recordings/ordered-media.ts'
import { Removals } from '../rooms/removals.ts'
import { Trash } from '../store/trash.ts'
import { type NodeDependencies, nodeParts, type NodesOptions, type ProgramServices } from './nodes.ts'
import { type ObservationDependencies, observationParts } from './observe.ts'
import { recordingsFolder, siteRecordings } from './recordings.ts'
import { type RoomDependencies, roomParts } from './rooms.ts'
import type { Settings } from '../../shared/settings.ts'
import type { Metrics } from '../observe/metrics.ts'
import type { Store } from '../store/store.ts'
import { SegmentFiles } from '../recordings/playback/segment-sources.ts'
import type { RecordingIndex } from '../recordings/recording-index.ts'
import type { Logger } from 'pino'
import type { EmbeddedNodes } from '../nodes/embedded/embedded-nodes.ts'
import type { EventSink } from '../event-log/event-log.ts'
import { recordSiteFile } from './site-file.ts'
import { recordHolders } from '../event-log/sources/access.ts'
import { wallClock } from '../store/system/time.ts'

interface ServiceOptions extends Omit<NodesOptions, 'removals' | 'ffmpeg'>, AccessOptions {
  folder: string
  /** See ControllerOptions. */
  recordingsDir?: string | undefined
  connections: () => Promise<Readonly<Record<string, number>>>
  /** Returns the public URL of the media API; empty while its port is closed. */
  mediaUrl?: () => string
  /** Recorder of the site; undefined: the nodes of the site record. */
  recorder?: SiteRecorder | undefined
  /** Folder of the built player page; undefined: the page is not served. */
  playerPage?: string | undefined
  /** Version of the product. */
  version: string
  /** Number of automatic restarts of the process. */
  restarts?: number
  /** Switches from flags or the environment, which override the settings. */
  compatibility?: FixedCompatibility | undefined
  events: GatedSink
  /** The log itself, for events that are stored with their changes. */
  eventLog: PendingEventsDependencies['log']
  /** Simulated stuck disk of the lab: the flush gate of the store. */
  stuckDisk: StuckDisk
  /** Addresses of both APIs, for scenarios. */
  apiAddresses?: () => ApiAddresses
  /** Calls a procedure as the site itself, for scenarios. */
  asSite?: CallProcedure
  /** Membership of this controller in its site; undefined: the only controller. */
  member?: Pick<SiteMember, 'id' | 'controllers' | 'onLeader' | 'database'> | undefined
}

/** All services between the disk and the listeners. */
export interface Services
  extends Pick<ServiceOptions, 'store' | 'settings' | 'stuckDisk'>,
    Omit<AccessDependencies, 'authentication'>,
    Omit<NodeDependencies, 'probe'>,
    Omit<RoomDependencies, 'others'>,
    ObservationDependencies {
  credentialRooms: CredentialRooms
  licence: LicenceCheck
  outgoing: OutgoingUsers
  deviceTable: DeviceTable
  /** Search for cameras on the networks of this machine. */
  cameraSearch: CameraSearch
  labCameras: LabCameras
  labPeople: LabPeople
  trash: Trash
  capabilities: Capabilities
  /** Removals of people from rooms. */
  removals: Removals
  /** Recordings and live streams ordered by clients and operators. */
  orders: OrderedMedia
  /** Pages of ordered recordings and live streams, on the media port. */
  orderPages: MediaOrderDependencies['pages']
  holderPages: HolderPages
  people: SimulatedPeople
  scenarios: ScenarioRuns
  pictures: PictureRounds
  recordings: SiteRecordings
  /** The ffmpeg of this machine, searched for at first use. */
  ffmpeg: LocalFfmpeg
  faults: FaultRules
  /** Recorder of API traffic for the lab. */
  traffic: TrafficRecorder
  /** Watches of API clients by the lab. */
  clientWatches: ClientWatches
  peopleNames: PeopleNames
  /** Events of changes by clients. */
  clientEvents: ClientEvents
  pendingEvents: PendingEvents
  hub: EventHub
  /** Search over all objects of the site. */
  search: SiteSearch
  tags: SiteTags
  authenticate: MediaServices['authenticate']
  fieldOperations: { media: AnyOperation[]; device: AnyOperation[] }
  start(): Promise<void>
  stop(): Promise<void>
}

/** Composes the services over an open store without starting them. */
export function createServices(options: ServiceOptions): Services {
  const { store, settings, logger, defaultNodeAddress, mediaUrl = () => '', member } = options
  const watch = new SiteWatch(store, options.events)
  const pending = new PendingEvents({ store, log: options.eventLog, logger })
  const { authentication, ...access } = accessParts(options)
  const { capabilities, pages } = capabilityParts(options)
  const removals = new Removals({ store, settings, logger })
  const folder = recordingsFolder(options.recordingsDir, options.folder, store)
  const usable = folder.problem === undefined ? folder.path : undefined
  const ffmpeg = new LocalFfmpeg(options.media?.ffmpeg ?? '', logger)
  const programServices = (): ProgramServices => {
    const { rooms: siteRooms, joinLinks } = rooms
    return { rooms: siteRooms, joinLinks, recordings, labPeople, observer: observation.observer, others }
  }
  const { probe, ...nodes } = nodeParts(
    { ...options, removals, ffmpeg, recordingsFolder: usable },
    watch,
    programServices,
  )
  const { pool } = nodes
  const licence = new LicenceCheck(() => licenceOf(store))
  const trash = new Trash({ store, settings, logger, clock: options.accountClock })
  const outgoing = new OutgoingUsers({ store, pool, trash, licence, settings, logger, probe })
  const tags = new SiteTags(store)
  const labCameras = new LabCameras({ store, media: nodes.media, outgoing, logger })
  const rooming = {
    store,
    settings,
    logger,
    watch,
    nodes,
    outgoing,
    capabilities,
    trash,
    licence,
    tags,
    defaultNodeAddress,
    mediaUrl,
    member,
  }
  const { others, ...rooms } = roomParts(rooming)
  const { rooms: labRooms, joinLinks: labLinks } = rooms
  const labPeople = new LabPeople({ store, media: nodes.media, rooms: labRooms, links: labLinks, logger })
  const pictures = cameraPictures({
    ...{ store, settings, outgoing, logger },
    folder: options.folder,
    media: nodes.media,
  })
  const traffic = new TrafficRecorder(options.version)
  const clientWatches = new ClientWatches({ store, credentials: access.credentials, sessions: access.sessions })
  const observation = observationParts({
    ...{ store, settings, sessions: access.sessions, nodes, outgoing, clients: watch.clients, traffic, clientWatches },
    ...{ folder: options.folder, logger },
    connections: options.connections,
    restarts: options.restarts ?? 0,
    compatibility: options.compatibility,
  })
  const sitePorts = options.sitePorts ?? (() => [])
  const recordings = siteRecordings({
    ...{ folder, store, settings, pool, outgoing, sitePorts, logger },
    events: options.events,
  })
  observation.metrics.addRecordings(() => recordings.health.status(() => false))
  const ordered = mediaOrderParts({
    ...{ store, settings, logger, mediaUrl, capabilities, pages, rooms: rooms.rooms },
    recorder: options.recorder ?? recorderOf(recordings),
    playerPage: options.playerPage ?? '',
    ffmpeg,
    sitePorts,
  })
  const credentialRooms = new CredentialRooms(store)
  const faults = new FaultRules()
  const hub = new EventHub()
  const scenarios = new ScenarioRuns({
    store,
    logger,
    applySite: (site) => recordSiteFile(store, 'scenario', logger, site),
    addresses: options.apiAddresses ?? noAddresses,
    useRandom: (random) => faults.useRandom(random),
    changed: () => hub.emit('scenarios.changed', {}),
    asSite: options.asSite ?? noProcedures,
  })
  const search = new SiteSearch({ store, presence: pool.presence, events: pool.events })
  const stopFollowing = followStore(store, settings, { ...nodes, removals }, observation.metrics)
  let stopNoting = (): void => {}
  return {
    store,
    settings,
    ...access,
    ...nodes,
    ...rooms,
    ...observation,
    credentialRooms,
    trash,
    capabilities,
    removals,
    licence,
    outgoing,
    orders: ordered.orders,
    orderPages: ordered.pages,
    holderPages: pages,
    pictures,
    recordings,
    ffmpeg,
    deviceTable: new DeviceTable(outgoing, store, tags, logger),
    cameraSearch: new CameraSearch(() => ({ from: lanAddresses(), networks: settings().media.camera_networks })),
    labCameras,
    labPeople,
    people: new SimulatedPeople(pool, store),
    faults,
    traffic,
    clientWatches,
    stuckDisk: options.stuckDisk,
    peopleNames: watch.names,
    clientEvents: watch.clients,
    pendingEvents: pending,
    hub,
    scenarios,
    search,
    tags,
    authenticate: authenticateHandler(authentication),
    fieldOperations: implementFieldOperations({
      ...authentication,
      rooms: rooms.rooms,
      outgoing,
      nodes: pool.nodes,
      mediaUrl,
      ...ordered.orders.parts,
    }),
    async start() {
      stopNoting = pool.events.subscribe((event) => {
        nodes.relayedRooms.noted(event)
        nodes.gateway.onPoolEvent(event)
      })
      inBackground(observation.figures.open(), 'figures of earlier runs could not be read', logger)
      inBackground(pictures.start(), 'pictures of cameras are not kept', logger)
      watch.start({ poolEvents: pool.events, devices: outgoing, faults })
      pending.start()
      nodes.relayedRooms.start()
      others.start()
      // Begins before the pool starts: a node receives recording orders after its first report.
      inBackground(recordings.begin(), 'recording could not be started', logger)
      await pool.start()
      inBackground(labCameras.resume(), 'test cameras could not be moved to other ports', logger)
      outgoing.fleet.start()
      capabilities.start()
      ordered.start()
      rooms.scheduled.start()
      trash.start()
    },
    async stop() {
      await scenarios.close()
      rooms.scheduled.stop()
      await pending.stop()
      await ordered.close()
      capabilities.close()
      await trash.stop()
      await pictures.stop()
      await recordings.end()
      others.stop()
      outgoing.fleet.stop()
      await nodes.relayedRooms.close()
      rooms.meetings.close()
      await pool.stop()
      await recordings.close()
      stopNoting()
      nodes.gateway.close()
      watch.stop()
      search.close()
      tags.close()
      stopFollowing()
      access.sessions.close()
      observation.samples.close()
      await observation.figures.close()
      observation.journal.close()
      credentialRooms.close()
      rooms.roomViews.close()
    },
  }
}

/** Services of a test have no ports and no procedures. */
const noAddresses = (): never => {
  throw new Error('These services have no ports.')
}
const noProcedures = noAddresses

/** Forwards changes of the store to the parts with derived state. @returns the unsubscribe function */
function followStore(
  store: Store,
  settings: () => Settings,
  {
    media,
    janus,
    gateway,
    removals,
  }: Pick<NodeDependencies, 'media' | 'janus' | 'gateway'> & { removals: Pick<Removals, 'follow' | 'stop'> },
  metrics: Pick<Metrics, 'flushed'>,
): () => void {
  const stopFlushes = store.onFlush((milliseconds) => metrics.flushed(milliseconds))
  let cameraNetworks = settings().media.camera_networks.join()
  const stopSettings = store.onChange(
    (changes) => {
      media?.configure()
      if (changes.every(({ collection }) => collection !== 'settings')) return
      const networks = settings().media.camera_networks.join()
      if (networks !== cameraNetworks) janus.cameraPlacesChanged()
      cameraNetworks = networks
    },
    ['settings', 'nodes', 'test_cameras', 'test_people'],
  )
  const stopChanges = store.onChange((changes) => {
    for (const change of changes)
      if (change.collection === 'devices')
        media?.noteOutgoing({ userId: change.key, roomId: change.value?.roomId ?? '' })
    removals.follow(changes)
    gateway.follow(changes)
  })
  return () => {
    stopFlushes()
    stopSettings()
    stopChanges()
    removals.stop()
  }
}

/**
 * Returns the nodes of a site as its recorder. If the folder is unusable, the recorder has no recordings and refuses
 * every request.
 */
function recorderOf(recordings: SiteRecordings): SiteRecorder {
  const none = (): readonly [] => []
  const nothing: RecordingIndex = {
    ...{ segments: none, open: none, gaps: none, sources: none },
    segment: () => undefined,
    onChange: () => () => {},
  }
  return {
    segments: recordings.files ?? new SegmentFiles(''),
    index: recordings.storage?.index ?? nothing,
    requests: recordings.orders,
    recovered: () => recordings.recovered(),
    budget: recordings.storage?.budget ?? { claim: () => Promise.resolve(undefined) },
  }
}

interface PictureOptions {
  folder: string
  store: Store
  settings: () => Settings
  outgoing: OutgoingUsers
  logger: Logger
  /** Embedded nodes; undefined: none. */
  media: EmbeddedNodes | undefined
}

/** Composes the stored pictures of cameras. Only cameras on embedded nodes have pictures. */
function cameraPictures({ folder, store, settings, outgoing, logger, media }: PictureOptions): PictureRounds {
  return new PictureRounds({
    ...{ dataFolder: folder, store, settings, outgoing, logger },
    async take(roomId, userId) {
      const node = store.get('rooms', roomId)?.node ?? ''
      if (!media?.names.includes(node)) return undefined
      const signal = AbortSignal.timeout(settings().deadlines.node_ms)
      const client = await media.client(node, signal)
      const { picture } = await client.request('key_picture', { roomId, streamId: userId }, signal)
      return picture ?? undefined
    },
  })
}

interface CapabilityOptions {
  store: Store
  logger: Logger
  events: EventSink
  accountClock?: (() => number) | undefined
}

/** Capabilities of a site, and the pages for their holders. */
interface CapabilityDependencies {
  capabilities: Capabilities
  pages: HolderPages
}

/** Composes the capabilities. */
function capabilityParts({ store, logger, events, accountClock }: CapabilityOptions): CapabilityDependencies {
  const capabilities = new Capabilities({
    ...{ store, logger },
    clock: accountClock ?? wallClock,
    used: recordHolders(store, events),
  })
  return { capabilities, pages: new HolderPages({ capabilities, leadership: store.leadership }) }
}
