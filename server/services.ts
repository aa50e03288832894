import { authenticateOperation } from './media-api/authenticate.ts'
import { type AccountAccess, accountAccess } from './access/accounts/account-access.ts'
import type { HashCost } from './access/accounts/password-hash.ts'
import { Credentials } from './access/credentials.ts'
import { DigestCache } from './access/digest-cache.ts'
import type { KeptPorts } from './edge/kept-ports.ts'
import { ClientRateLimit } from './edge/rate-limit.ts'
import { LicenceCheck } from './access/licence.ts'
import { Sessions } from './access/sessions.ts'
import { carriedRooms } from './carried-rooms.ts'
import { CredentialRooms } from './console/credential-rooms.ts'
import { EventHub } from './console/event-hub.ts'
import { licenceOf } from './console/site-procedures.ts'
import type { EventSink } from './event-log/event-log.ts'
import type { PeopleNames } from './event-log/people-names.ts'
import { SiteWatch } from './event-log/watch-site.ts'
import { type EmbeddedProgramsParts, embeddedPrograms } from './embedded-programs.ts'
import { DeviceTable } from './devices/device-table.ts'
import { OutgoingUsers } from './devices/outgoing-users.ts'
import type { DeviceProbe } from './devices/probe.ts'
import type { AnyOperation } from './http/operation.ts'
import { fieldOperations } from './field-api/field-operations.ts'
import { type FixedCompatibility, OlderClients } from './field-api/older-clients.ts'
import { FaultRules } from './lab/faults.ts'
import { SimulatedPeople } from './lab/people.ts'
import { lookThrough, probeThrough } from './devices/node-probe.ts'
import type { EmbeddedNodes } from './nodes/embedded/embedded-nodes.ts'
import type { NodeDrivers } from './nodes/node-driver.ts'
import type { NodeInspections } from './nodes/health/connection-test.ts'
import { janusAccess } from './nodes/janus/node-access.ts'
import { inspectJanus } from './nodes/janus/safety/inspect-janus.ts'
import { EventPort } from './nodes/janus/events/event-port.ts'
import type { FrontRooms } from './nodes/front/front-rooms.ts'
import { NodePool } from './nodes/node-pool.ts'
import type { CameraProbe } from './nodes/janus/cameras/camera-probe.ts'
import { JanusCameras } from './nodes/janus/cameras/janus-cameras.ts'
import type { Cascades } from './nodes/janus/cascade/cascades.ts'
import { JanusNodes } from './nodes/janus/janus-nodes.ts'
import { SimulatedNode } from './nodes/simulated/simulated-node.ts'
import { Metrics } from './observe/metrics.ts'
import { observers, type RequestObserver } from './observe/observation.ts'
import { RequestJournal } from './observe/request-journal.ts'
import { Samples } from './observe/samples.ts'
import { RoomViews } from './rooms/room-views.ts'
import { JoinLinks } from './rooms/join-links.ts'
import { fixedAddresses } from './rooms/fixed-addresses.ts'
import { OtherControllers } from './rooms/other-controllers.ts'
import { Rooms } from './rooms/rooms.ts'
import { lockForHost } from './rooms/host-lock.ts'
import { lookAtRoom } from './rooms/entry-by-number.ts'
import { observeGuesses } from './rooms/refused-guesses.ts'
import { openWantedRoom } from './rooms/wanted-room.ts'
import type { SiteMember } from './store/site-member.ts'

/** What services are made of. */
export interface ServiceOptions extends EmbeddedProgramsParts {
  /** `host:port` of this machine's own node at the node port; or of the one at a port of its own. */
  defaultNodeAddress: (port: number) => string
  /** Open connections by listener. */
  connections: () => Promise<Readonly<Record<string, number>>>
  /** Where people reach the media API; empty while it does not listen. */
  mediaUrl?: () => string
  /** How often the process started itself again. */
  restarts?: number
  /** Of flags or the environment: they come before the settings. */
  compatibility?: FixedCompatibility | undefined
  /** What the hash of an account's password costs; left out: what keeps it from being found out. */
  passwordCost?: HashCost | undefined
  /** Clock of accounts, their sessions and tokens: milliseconds since the epoch. */
  accountClock?: (() => number) | undefined
  /** Where what happens is written. */
  events: EventSink
  /** This controller among those of its site; left out: it is alone. */
  member?: Pick<SiteMember, 'id' | 'controllers' | 'onLeader'> | undefined
  /** Ports that another role of this program let go of. */
  kept?: KeptPorts | undefined
}

/** Every part between the disk and the listeners, composed. */
export interface Services extends Pick<ServiceOptions, 'store' | 'settings'> {
  sessions: Sessions
  credentials: Credentials
  /** Who may use the console. */
  accountAccess: AccountAccess
  credentialRooms: CredentialRooms
  failures: ClientRateLimit
  licence: LicenceCheck
  pool: NodePool
  /** The processes of the embedded nodes; undefined where none works. */
  media: EmbeddedNodes | undefined
  janus: JanusNodes
  /** Rooms on several Janus nodes. */
  cascades: Cascades
  /** Where Janus nodes send their events. */
  janusEvents: EventPort
  /** Rooms whose page an embedded node's program shows while another node carries their media. */
  front: FrontRooms
  outgoing: OutgoingUsers
  deviceTable: DeviceTable
  rooms: Rooms
  joinLinks: JoinLinks
  roomViews: RoomViews
  people: SimulatedPeople
  faults: FaultRules
  journal: RequestJournal
  samples: Samples
  metrics: Metrics
  olderClients: OlderClients
  /** All that is told of requests. */
  observer: RequestObserver
  /** What people in the rooms are called. */
  peopleNames: PeopleNames
  hub: EventHub
  authenticate: AnyOperation
  /** What clients of the original platform find on each port. */
  fieldOperations: { media: AnyOperation[]; device: AnyOperation[] }
  start(): Promise<void>
  stop(): Promise<void>
}

/** Composes the services over an open store; nothing runs before `start`. */
export function createServices(options: ServiceOptions): Services {
  const { store, settings, logger, defaultNodeAddress, mediaUrl = () => '' } = options
  const sessions = new Sessions({ store, settings })
  const digests = new DigestCache(store)
  const failures = new ClientRateLimit({ most: () => settings().access.failures_per_minute, windowMs: 60_000 })
  const watch = new SiteWatch(store, options.events)
  const media = embeddedPrograms(options, watch, {
    answers: {
      open: (wanted, node) => openWantedRoom({ store, rooms, joinLinks, front, observer, logger }, wanted, node),
      look: (looked) => lookAtRoom({ store, rooms, observer }, looked),
      lock: (wanted) => lockForHost({ rooms, done: (done) => watch.hosts.locked(done), logger }, wanted),
    },
    guessed: (guesses) => {
      observeGuesses(observer, guesses)
      watch.guessed(guesses)
    },
    nodesBeside: (name) => joinLinks.nodesBeside(name),
    leaseMs: () => others.leaseMs,
    front: {
      take: (node, event) => front.take(node, event),
      restarted: (node) => front.restarted(node),
    },
  })
  const drivers: NodeDrivers = { simulated: () => new SimulatedNode() }
  if (media !== undefined) drivers.embedded = (node) => media.driver(node)
  // Where no embedded node works, the program of the room page looks for the others.
  const looking = (): EmbeddedNodes | undefined => (media === undefined || media.names.length === 0 ? undefined : media)
  const probe = (): DeviceProbe | undefined => through(looking(), probeThrough)
  const look = (): CameraProbe | undefined => through(looking(), lookThrough)
  const isRestricted = (): boolean => settings().media.camera_networks.length > 0
  const janus = new JanusNodes({
    store,
    settings,
    logger,
    devices: (access, rooms, emit) =>
      new JanusCameras({ access, store, rooms, probe: look, restricted: isRestricted, emit, logger }),
    changed: () => {
      janusEvents.review()
      // Where no embedded node shows the room page, it is shown for one of these.
      media?.first.showPageFor(janus.first)
      cascades.nodesChanged()
    },
    elsewhere: (node, roomId, userId) => pool.usersElsewhere(roomId, node, userId),
    people: (people, event) => cascades.heard(people, event),
  })
  const janusEvents: EventPort = new EventPort({
    sources: () => janus.sources(),
    logger,
    proof: options.proof,
    kept: options.kept,
  })
  drivers.janus = (node) => janus.driver(node)
  const inspections: NodeInspections = {
    janus: (node) => {
      const access = janusAccess(node, store)
      const events = (room: string, signal: AbortSignal): Promise<boolean> => janus.tells(access, room, signal)
      return inspectJanus(access, { logger, clock: Date.now, ...(janusEvents.url === '' ? {} : { events }) })
    },
  }
  const pool = new NodePool({ store, drivers, inspections, settings, logger, defaultAddress: defaultNodeAddress })
  const users = (): number => {
    const { people, devices } = pool.totals()
    return people + devices
  }
  const licence = new LicenceCheck(() => licenceOf(store), { rooms: () => store.all('rooms').size, users })
  const outgoing = new OutgoingUsers({ store, pool, licence, settings, logger, probe })
  const rooms = new Rooms({ store, pool, devices: outgoing, licence, settings, logger })
  const { cascades, front } = carriedRooms({ store, settings, pool, janus, media, logger })
  const pageAddress = (): string => (media?.first.owner === undefined ? '' : (defaultNodeAddress?.(0) ?? ''))
  const warned = new Set<string>()
  const others = new OtherControllers({
    member: options.member,
    changed: () => {
      media?.configure()
      for (const sentence of fixedAddresses(store.all('nodes').values(), settings())) {
        if (!warned.has(sentence)) logger.warn(sentence)
        warned.add(sentence)
      }
    },
    logger,
  })
  const otherControllers = (): readonly string[] => others.nodeUrls
  const joinLinks = new JoinLinks({ store, rooms, pool, settings, mediaUrl, pageAddress, otherControllers })
  const roomViews = new RoomViews({ store, rooms, pool, devices: outgoing })
  const samples = new Samples({ people: () => pool.totals().people, devices: () => pool.totals().devices })
  const metrics = new Metrics({
    rooms: () => store.all('rooms').size,
    users,
    sessions: () => sessions.total,
    nodes: () => countBy(pool.views().map(({ state }) => state)),
    drifts: () => pool.drifts(),
    relays: () => cascades.relays.counts(),
    devices: () => outgoing.countByState(),
    store: () => store.status(),
    restarts: () => options.restarts ?? 0,
    olderClients: () => olderClients.counts,
    connections: options.connections,
  })
  const journal = new RequestJournal({
    capacity: () => settings().console.activity_entries,
    known: {
      credential: (accessKey) => store.get('credentials', accessKey) !== undefined,
      room: (roomId) => store.get('rooms', roomId) !== undefined,
      user: (userId) => store.get('devices', userId) !== undefined,
    },
  })
  const olderClients = new OlderClients({
    settings,
    sessions,
    isCredential: (accessKey) => store.get('credentials', accessKey) !== undefined,
    fixed: options.compatibility,
  })
  const observer = observers(metrics, samples, journal, olderClients, watch.clients)
  // Of a site in files nobody else leads a moment later: it need not wait for the disk.
  const stored = store.status().medium === 'database'
  const access = { store, digests, sessions, stored, failures, settings }
  const credentialRooms = new CredentialRooms(store)
  const faults = new FaultRules()
  const stopFlushes = store.onFlush((milliseconds) => metrics.flushed(milliseconds))
  let cameraNetworks = settings().media.camera_networks.join()
  const stopFollowing = store.onChange((changes) => {
    if (changes.some(({ collection }) => collection === 'settings' || collection === 'nodes')) media?.configure()
    const networks = settings().media.camera_networks.join()
    if (networks !== cameraNetworks) janus.cameraPlacesChanged()
    cameraNetworks = networks
    for (const change of changes)
      if (change.collection === 'devices')
        media?.noteOutgoing({ userId: change.key, roomId: change.value?.roomId ?? '' })
    front.follow(changes)
  })
  let stopNoting = (): void => {}
  return {
    store,
    settings,
    sessions,
    credentials: new Credentials(store, sessions),
    accountAccess: accountAccess(store, options.passwordCost, options.accountClock),
    credentialRooms,
    failures,
    licence,
    pool,
    media,
    janus,
    janusEvents,
    cascades,
    front,
    outgoing,
    deviceTable: new DeviceTable(outgoing, store, logger),
    rooms,
    joinLinks,
    roomViews,
    people: new SimulatedPeople(pool, store),
    faults,
    journal,
    samples,
    metrics,
    olderClients,
    observer,
    peopleNames: watch.names,
    hub: new EventHub(),
    authenticate: authenticateOperation(access),
    fieldOperations: fieldOperations({ ...access, rooms, outgoing, pool, mediaUrl }),
    async start() {
      stopNoting = pool.onEvent((event) => {
        cascades.noted(event)
        front.noted(event)
      })
      watch.start({ pool, devices: outgoing, faults })
      cascades.start()
      others.start()
      await pool.start()
      outgoing.start()
    },
    async stop() {
      others.stop()
      outgoing.stop()
      await cascades.close()
      await pool.stop()
      stopNoting()
      front.close()
      watch.stop()
      stopFlushes()
      stopFollowing()
      sessions.close()
      samples.close()
      journal.close()
      credentialRooms.close()
      roomViews.close()
    },
  }
}

function through<T>(media: EmbeddedNodes | undefined, make: (media: EmbeddedNodes) => T): T | undefined {
  return media === undefined ? undefined : make(media)
}

function countBy(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}
