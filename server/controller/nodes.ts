import type { KeptPorts } from '../edge/kept-ports.ts'
import type { RequestProof } from '../edge/request-proof.ts'
import { type DeviceProbe, lookThrough, probeThrough } from '../devices/device-probe.ts'
import type { SiteWatch } from '../event-log/watch-site.ts'
import { proven } from '../gate/gate.ts'
import type {
  LookedRoom,
  RoomAnswer,
  WantedInvite,
  WantedLock,
  TestEntry,
  WantedRecording,
  WantedTestEntry,
  WantedRoom,
} from '../nodes/embedded/embedded-media-options.ts'
import type { EmbeddedNodes } from '../nodes/embedded/embedded-nodes.ts'
import type { GatewayRooms } from '../nodes/gateway/gateway-rooms.ts'
import { JanusCameras } from '../nodes/janus/cameras/janus-cameras.ts'
import { EventPort } from '../nodes/janus/events/event-port.ts'
import { JanusNodes } from '../nodes/janus/janus-nodes.ts'
import type { RelayedRooms } from '../nodes/janus/relay/relayed-rooms.ts'
import { NodePool } from '../nodes/pool/node-pool.ts'
import type { NodeDrivers, NodeInspections } from '../nodes/port/node-driver.ts'
import { SimulatedNode } from '../nodes/simulated/simulated-node.ts'
import {
  type HostInvitationDependencies,
  type HostLockDependencies,
  inviteForHost,
  lockForHost,
} from '../rooms/host-requests.ts'
import { OperatorMutes } from '../rooms/operator-mutes.ts'
import { WaitingGuests, type RequestProgram } from '../rooms/waiting-guests.ts'
import { recordForHost } from '../recordings/recording-control.ts'
import { lookAtRoom, observeGuesses, openWantedRoom, unknownRoom } from '../rooms/visitor-entry.ts'
import { type EmbeddedProgramsDependencies, embeddedPrograms } from './embedded-programs.ts'
import { remoteRooms } from './remote-rooms.ts'
import type { Logger } from 'pino'
import type { RequestObserver } from '../observe/observation.ts'
import type { LabPeople } from '../lab/lab-people.ts'
import type { SiteRecordings } from '../recordings/site-recordings.ts'
import type { JoinLinks } from '../rooms/join-links.ts'
import type { OtherControllers } from '../rooms/other-controllers.ts'
import type { Rooms } from '../rooms/room-lifecycle.ts'
import { inspectJanus } from '../nodes/janus/safety/inspect-janus.ts'
import { janusAccess } from '../nodes/secrets/janus-access.ts'
import type { Store } from '../store/store.ts'
import type { Settings } from '../../shared/settings.ts'
import { NodeConnectionError } from '../nodes/port/media-node-port.ts'

export interface NodesOptions extends EmbeddedProgramsDependencies {
  /** Returns `host:port` of this machine's own node, at the node port (0) or at its own port. */
  defaultNodeAddress: (port: number) => string
  /** Ports released by another role of this program. */
  kept?: KeptPorts | undefined
  /** Proof on requests between the controllers of this site. */
  proof?: RequestProof | undefined
}

/** The nodes of a site, of all kinds. */
export interface NodeDependencies {
  pool: NodePool
  /** Processes of the embedded nodes; undefined: no embedded node. */
  media: EmbeddedNodes | undefined
  janus: JanusNodes
  /** Port to which Janus nodes send their events. */
  janusEvents: EventPort
  /** Relays between Janus nodes. */
  relayedRooms: RelayedRooms
  /** Rooms whose page is served by an embedded node's program while their media is on another node. */
  gateway: GatewayRooms
  guests: WaitingGuests
  mutes: OperatorMutes
  /** Returns a probe of devices; undefined without embedded nodes. */
  probe: () => DeviceProbe | undefined
}

/** Services that media programs call. The services use the nodes, and are composed after the nodes. */
export interface ProgramServices {
  /** Rooms that programs open, inspect and lock. */
  rooms: Rooms
  /** Addresses of other nodes, and invitations. */
  joinLinks: JoinLinks
  /** Receiver of recording reports. */
  recordings: SiteRecordings
  /** Receiver of guessed room numbers. */
  observer: RequestObserver
  /** Groups of test people, whose people request join links. */
  labPeople: LabPeople
  /** Source of the duration of the leader's lease. */
  others: OtherControllers
}

/** Composes the nodes without starting them. @param services called by running programs only */
export function nodeParts(options: NodesOptions, watch: SiteWatch, services: () => ProgramServices): NodeDependencies {
  const { store, settings, logger, removals, defaultNodeAddress } = options
  const request = programRequests({ settings, media: () => media })
  const guests = new WaitingGuests({ store, request, began: (roomId, who) => watch.hosts.waits(roomId, who) })
  const media: EmbeddedNodes | undefined = mediaPrograms(options, watch, guests, () => ({
    ...services(),
    ...{ pool, gateway },
  }))
  // Without an embedded node, the program of the room page probes devices for the other nodes.
  const throughMedia = <T>(make: (media: EmbeddedNodes) => T): T | undefined =>
    media === undefined || media.names.length === 0 ? undefined : make(media)
  const janus = new JanusNodes({
    store,
    settings,
    removals,
    logger,
    devices: (access, rooms, emit) => {
      const restricted = (): boolean => settings().media.camera_networks.length > 0
      const probe = (): ReturnType<typeof lookThrough> | undefined => throughMedia(lookThrough)
      return new JanusCameras({ access, store, rooms, probe, restricted, emit, logger })
    },
    changed: () => {
      janusEvents.review()
      // Without an embedded node, a program serves the room page for one of the Janus nodes.
      media?.first.showPageFor(janus.first)
      relayedRooms.nodesChanged()
    },
    onOtherNodes: (node, roomId, userId) => pool.presence.countOnOtherNodes(roomId, node, userId),
    people: (people, event) => relayedRooms.onPeopleEvent(people, event),
  })
  const { proof, kept } = options
  const janusEvents = new EventPort({ sources: () => janus.sources(), logger, proof, kept })
  const drivers: NodeDrivers = { simulated: () => new SimulatedNode(), janus: (node) => janus.driver(node) }
  if (media !== undefined) drivers.embedded = (node) => media.driver(node)
  const inspections = nodeInspections({ store, janus, janusEvents, logger })
  const pool = new NodePool({
    store,
    drivers,
    inspections,
    settings,
    logger,
    removals,
    defaultAddress: defaultNodeAddress,
  })
  const { relayedRooms, gateway } = remoteRooms({ store, settings, pool, janus, media, logger })
  const mutes = new OperatorMutes({ presence: pool.presence, gateway, request })
  const probe = (): DeviceProbe | undefined => throughMedia(probeThrough)
  return { pool, media, janus, janusEvents, relayedRooms, gateway, guests, mutes, probe }
}

/** Composes the media programs, with handlers for their requests to the controller. */
function mediaPrograms(
  options: NodesOptions,
  watch: SiteWatch,
  guests: WaitingGuests,
  services: () => ProgramServices & Pick<NodeDependencies, 'pool' | 'gateway'>,
): EmbeddedNodes | undefined {
  const { store, logger } = options
  const { leadership } = store
  return embeddedPrograms(options, watch, {
    answers: {
      open: proven(
        leadership,
        (view, wanted: WantedRoom, node: string) => {
          const { rooms, joinLinks, gateway, observer } = services()
          return openWantedRoom({ store: view, rooms, joinLinks, gateway, observer, logger }, wanted, node)
        },
        (): RoomAnswer => ({ refusal: 'busy' }),
      ),
      look: proven(
        leadership,
        (view, looked: LookedRoom) => {
          const { rooms, observer, pool } = services()
          return lookAtRoom({ store: view, rooms, observer, presence: pool.presence }, looked)
        },
        () => unknownRoom,
      ),
      lock: proven(
        leadership,
        (_view, wanted: WantedLock) => {
          const recorded: HostLockDependencies['recorded'] = (lock, change) => watch.hosts.locking(lock, change)
          return lockForHost({ rooms: services().rooms, recorded, logger }, wanted)
        },
        () => false,
      ),
      invite: proven(
        leadership,
        (_view, wanted: WantedInvite) => {
          const recorded: HostInvitationDependencies['recorded'] = (invite, change) =>
            watch.hosts.inviting(invite, change)
          return inviteForHost({ joinLinks: services().joinLinks, recorded, logger }, wanted)
        },
        () => undefined,
      ),
      record: proven(
        leadership,
        (_view, wanted: WantedRecording) =>
          recordForHost({ recordings: services().recordings, settings: options.settings, logger }, wanted),
        () => false,
      ),
      testEntry: proven(
        leadership,
        (_view, wanted: WantedTestEntry) => services().labPeople.entryOf(wanted),
        (): TestEntry => ({ room_id: '', token: '', problem: 'this controller does not lead now' }),
      ),
    },
    guessed: (guesses) => {
      observeGuesses(services().observer, guesses)
      watch.guessed(guesses)
    },
    waiting: guests,
    recorder: () => services().recordings,
    nodesBeside: (name) => services().joinLinks.nodesBeside(name),
    pageOrigins: () => services().joinLinks.pageOrigins(),
    leaseMs: () => services().others.leaseMs,
    gateway: () => services().gateway,
  })
}

interface InspectionDependencies {
  store: Store
  janus: Pick<JanusNodes, 'tells'>
  janusEvents: Pick<EventPort, 'url'>
  logger: Logger
}

/** Returns the inspections for nodes that the operator tests. */
function nodeInspections({ store, janus, janusEvents, logger }: InspectionDependencies): NodeInspections {
  return {
    janus: (node) => {
      const access = janusAccess(node, store)
      const events = (room: string, signal: AbortSignal): Promise<boolean> => janus.tells(access, room, signal)
      return inspectJanus(access, { logger, clock: Date.now, ...(janusEvents.url === '' ? {} : { events }) })
    },
  }
}

interface ProgramRequestsDependencies {
  settings: () => Settings
  /** Programs of the room page; undefined: none. */
  media: () => EmbeddedNodes | undefined
}

/** Returns a function that sends requests about people to the programs of the room page. */
function programRequests({ settings, media }: ProgramRequestsDependencies): RequestProgram {
  return async (program, method, params) => {
    const programs = media()
    if (programs === undefined) throw new NodeConnectionError('it does not run')
    const signal = AbortSignal.timeout(settings().deadlines.node_ms)
    try {
      return await (await programs.client(program, signal)).request(method, params, signal)
    } catch (error) {
      if (signal.aborted) throw new NodeConnectionError('it does not answer in time', { cause: error })
      throw error
    }
  }
}
