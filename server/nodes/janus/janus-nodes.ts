import { onAbort } from '../../../shared/abort.ts'
import { issueToken } from '../../../shared/files/signed-tokens.ts'
import type { Settings } from '../../../shared/settings.ts'
import { inBackground } from '../../../shared/unawaited.ts'
import type { StoredNode } from '../../store/records.ts'
import { isSameSealing } from '../../store/sealer.ts'
import type { Store } from '../../store/store.ts'
import { NodeError, type NodeEvent } from '../port/media-node-port.ts'
import type { NodeLogger } from '../port/node-failure.ts'
import type { RemovalsPort } from '../port/removals-port.ts'
import { controllerToken, derivedSecret, type JanusAccess, janusAccess } from '../secrets/janus-access.ts'
import { isConnectionEvent, type JanusEvent } from './events/event-message.ts'
import type { EventSource } from './events/event-port.ts'
import { JanusNode } from './janus-node.ts'
import { JanusPeople } from './people/janus-people.ts'
import { MediaTickets } from './people/media-tickets.ts'
import type { PeopleEvent } from './people/people-media.ts'
import { type RelayNode, RelaySession } from './relay/relay-node.ts'
import { RelayIds } from './relay/relay-participants.ts'
import { RelayRecords } from './relay/relay-records.ts'
import { JanusRooms } from './rooms/janus-rooms.ts'
import { LostConnections } from './rooms/lost-connections.ts'
import { AdminExpulsion } from './rooms/removal.ts'
import type { AdmissionRequest } from './rooms/room-admission.ts'
import { type JanusRoomDevices, noDevices, type RoomsForDevices } from './rooms/room-devices.ts'
import { JanusRoomNames } from './rooms/room-names.ts'
import { AdminApi } from './wire/admin-api.ts'
import { NodeTraits } from './wire/node-traits.ts'

export interface JanusNodesOptions {
  store: Pick<Store, 'all' | 'get' | 'transact' | 'seal' | 'unseal' | 'leadership'>
  settings: () => Settings
  removals: Pick<RemovalsPort, 'remove' | 'refuses'>
  logger: NodeLogger
  /** Creates the devices in the rooms of one node. */
  devices: (access: JanusAccess, rooms: RoomsForDevices, emit: (event: NodeEvent) => void) => JanusRoomDevices
  /** Called when the set of nodes that may send events changed. */
  changed: () => void
  /** Returns the number of users in a room on nodes other than `node`, excluding `userId`. Left out: always 0. */
  onOtherNodes?: (node: string, roomId: string, userId: string) => number
  /**
   * Receives events of people who entered through the room page.
   * @param people people of the node
   */
  people?: (people: JanusPeople, event: PeopleEvent) => void
}

/** Access of a client of Janus's own API to a room. */
export interface ParticipantAccess {
  wsUrl: string
  /** Name of the room on the node. */
  room: string
  /** Core token, required in every message. */
  token: string
  /** Token of the join request. */
  roomToken: string
}

/** A driver in service, with its dependencies. */
interface Running {
  node: JanusNode
  rooms: JanusRooms
  access: JanusAccess
  traits: NodeTraits
  source: EventSource
  news: RoomNews
  relay: RelayNode
  people: JanusPeople
  devices: JanusRoomDevices
}

/** The Janus nodes in service, for callers other than the pool: events of the nodes, and people who enter rooms. */
export class JanusNodes {
  readonly #options: JanusNodesOptions
  readonly #relayRecords: RelayRecords
  readonly #running = new Map<string, Running>()

  constructor(options: JanusNodesOptions) {
    this.#options = options
    this.#relayRecords = new RelayRecords(options.store, options.logger)
  }

  /**
   * Creates the driver of one node.
   * @throws NodeError, ApiError if the node's record is invalid
   */
  driver(config: StoredNode): JanusNode {
    const { store, logger, devices } = this.#options
    if (config.secrets_sealed === '') throw new NodeError('it was added by an older version: change it once')
    const { leadership } = store
    const access = janusAccess(config, store)
    const { name, adminUrl, secrets } = access
    if (adminUrl === '') throw new NodeError('its admin_url is missing: rooms are made through it')
    const admin = new AdminApi({ url: adminUrl, secret: secrets.admin_secret, leadership })
    const traits = new NodeTraits(access, admin, logger)
    // A test of a configuration also creates a driver, which must not take over cameras or events from the driver in
    // service.
    const inService = isCurrent(store.get('nodes', name), config)
    let own = noDevices
    const rooms = new JanusRooms(admin, secrets, new JanusRoomNames(secrets, traits), traits)
    const socket = { url: access.wsUrl, apiSecret: secrets.api_secret, leadership, logger }
    const relayIds = new RelayIds(derivedSecret(secrets, 'relay', '').slice(0, 12))
    const node: JanusNode = new JanusNode({
      name,
      relayIds,
      relayed: inService ? this.#relayRecords.participantsOn(name, relayIds) : [],
      rooms,
      traits,
      tokenSecret: secrets.token_secret || derivedSecret(secrets, 'tokens', ''),
      expel: new AdminExpulsion(admin),
      devices: (forDevices, emit) => {
        if (inService) own = devices(access, forDevices, emit)
        return own
      },
      visitors: {
        personOf: (roomId, userId) => people.places.personOf(roomId, userId),
        isHere: (roomId, userId) => people.isHere(roomId, userId),
      },
      removals: this.#options.removals,
      onOtherNodes: (roomId, userId) => this.#options.onOtherNodes?.(name, roomId, userId) ?? 0,
      released: () => {
        lost.close()
        admin.close()
        // If the node stays enabled, people stay connected: their pages resume with their tickets at the next driver.
        people
          .close(store.get('nodes', name)?.enabled === true)
          .catch((error: unknown) =>
            logger.debug({ node: name, err: error }, 'could not remove the people of a Janus node'),
          )
        const running = this.#running.get(name)
        if (running?.node !== node) return
        inBackground(running.relay.session.close(), 'could not end the relays of a Janus node', logger)
        this.#running.delete(name)
        this.#options.changed()
      },
      logger,
    })
    const people: JanusPeople = new JanusPeople({
      socket,
      entrance: node.occupancy,
      rooms,
      tickets: new MediaTickets(store, name),
      small: own.small,
      tell: (event) => this.#options.people?.(people, event),
      logger,
    })
    const news = new RoomNews()
    const lost = new LostConnections({
      admin,
      displace: (room, userId, signal) => node.displaceLost(rooms.roomOf(room), userId, signal),
      onError: (error) =>
        logger.debug({ node: name, err: error }, 'could not check a participant whose connection was lost'),
    })
    const source: EventSource = {
      name,
      secret: secrets.event_secret,
      connected: (connected) => {
        logger.info({ node: name }, connected ? 'a Janus node sends its events' : 'a Janus node stopped sending events')
        if (!connected) lost.forget()
        node.reporting(connected)
      },
      take: (event) => {
        if (isConnectionEvent(event)) return lost.take(event)
        if (event.type === 'started') lost.forget()
        news.tell(event)
        node.occupancy.take(event)
      },
    }
    if (inService) {
      const records = this.#relayRecords
      const session = new RelaySession({
        node: name,
        socket: { ...socket, token: controllerToken(secrets) },
        records,
        logger,
      })
      const relay: RelayNode = { name, ids: relayIds, records, session, participants: node.occupancy.relays, admin }
      this.#running.set(name, { node, rooms, access, traits, source, news, relay, people, devices: own })
      this.#options.changed()
    }
    return node
  }

  /** Handles a change of the site's restrictions on the addresses of cameras. */
  cameraPlacesChanged(): void {
    for (const { devices } of this.#running.values())
      inBackground(devices.placesChanged(), 'could not check the addresses of cameras', this.#options.logger)
  }

  /** Nodes whose events are accepted. */
  *sources(): Iterable<EventSource> {
    for (const { source } of this.#running.values()) yield source
  }

  /**
   * Waits for an event of a node about a room. Resolves to true when an event arrives, and to false when the signal
   * aborts. Also resolves to true if the node in service differs from `access`, because only the node in service sends
   * events here. Never rejects.
   */
  async tells(access: JanusAccess, room: string, signal: AbortSignal): Promise<boolean> {
    const running = this.#running.get(access.name)
    if (running === undefined || !isSameServer(running.access, access)) return true
    return await running.news.received(room, signal)
  }

  /** Returns a node in its role for relays; undefined if it is not in service. */
  relayNode(name: string): RelayNode | undefined {
    return this.#running.get(name)?.relay
  }

  /** Record of the first node in service; undefined if there is none. */
  get first(): StoredNode | undefined {
    const [name] = this.#running.keys()
    return name === undefined ? undefined : this.#options.store.get('nodes', name)
  }

  /**
   * Returns the people who enter rooms of a node through the room page; undefined if the node is not a Janus node in
   * service.
   */
  people(nodeName: string): JanusPeople | undefined {
    return this.#running.get(nodeName)?.people
  }

  /**
   * Returns whether a participant's id is verified: they entered through the room page, or the node requires tokens.
   */
  isProven(nodeName: string, roomId: string, userId: string): boolean {
    const running = this.#running.get(nodeName)
    return running?.traits.current.guarded === true || running?.people.places.personOf(roomId, userId) !== undefined
  }

  /** Returns whether the controller recently removed this user from a room, or is removing them. */
  wasKicked(roomId: string, userId: string): boolean {
    for (const { node } of this.#running.values()) if (node.occupancy.removal.isUnderWay(roomId, userId)) return true
    return this.#options.removals.refuses({ roomId, userId, proven: true })
  }

  /**
   * Removes a participant who may rejoin at once. Does nothing if the node is not in service.
   * @throws the errors of JanusRooms.kick
   */
  async dismiss(nodeName: string, roomId: string, userId: string, signal: AbortSignal): Promise<void> {
    await this.#running.get(nodeName)?.rooms.kick(roomId, userId, signal)
  }

  /**
   * Admits a user through Janus's own API.
   * @throws NodeError with the reason if that is impossible; JanusError
   */
  async letIn(nodeName: string, request: AdmissionRequest, signal: AbortSignal): Promise<ParticipantAccess> {
    const running = this.#running.get(nodeName)
    if (running === undefined) throw new NodeError('The node of the room is not in service.')
    const { node, rooms, access, traits } = running
    const { guarded } = await traits.read(signal)
    if (!guarded)
      throw new NodeError(
        `The node ${nodeName} has no token_secret: anyone who reaches it can join its rooms without a token. Set one here, and the same in Janus (token_auth_secret).`,
      )
    const roomToken = await node.admit(request, signal)
    const token = issueToken('janus-core', access.secrets.token_secret, request)
    return { wsUrl: access.wsUrl, room: rooms.nameOf(request.roomId), token, roomToken }
  }
}

function isSameServer(one: JanusAccess, other: JanusAccess): boolean {
  return one.wsUrl === other.wsUrl && one.secrets.event_secret === other.secrets.event_secret
}

function isCurrent(stored: StoredNode | undefined, config: StoredNode): boolean {
  return (
    stored !== undefined &&
    isSameSealing(stored.secrets_sealed, config.secrets_sealed) &&
    stored.created_at === config.created_at
  )
}

/** Lets callers wait for a node's events about a room, independently of the node's driver. */
class RoomNews {
  readonly #waiting = new Map<string, Set<() => void>>()

  tell(event: JanusEvent): void {
    if (event.type === 'started') return
    for (const heard of this.#waiting.get(event.room) ?? []) heard()
  }

  /**
   * Waits for an event about a room. Resolves to true when an event arrives, and to false when the signal aborts. Never
   * rejects.
   * @param room name of the room on the node
   */
  received(room: string, signal: AbortSignal): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const heard = (): void => resolve(true)
    const silent = (): void => resolve(false)
    const waiting = this.#waiting.get(room) ?? new Set()
    this.#waiting.set(room, waiting.add(heard))
    const unregister = onAbort(signal, silent)
    return promise.finally(() => {
      unregister()
      waiting.delete(heard)
      if (waiting.size === 0 && this.#waiting.get(room) === waiting) this.#waiting.delete(room)
    })
  }
}
