import type { GatewayRooms } from '../nodes/gateway/gateway-rooms.ts'
import type { EventPort } from '../nodes/janus/events/event-port.ts'
import type { RelayedRooms } from '../nodes/janus/relay/relayed-rooms.ts'
import type { NodePool } from '../nodes/pool/node-pool.ts'
import type { RequestObserver } from '../observe/observation.ts'
import type { SiteRecordings } from '../recordings/site-recordings.ts'
import type { JoinLinks } from '../rooms/join-links.ts'
import type { OtherControllers } from '../rooms/other-controllers.ts'
import type { Rooms } from '../rooms/room-lifecycle.ts'
import { Late } from './late.ts'

/** Services that are injected late, because services created before them call them. */
export interface ConnectedDependencies {
  pool: NodePool
  rooms: Rooms
  joinLinks: JoinLinks
  gateway: GatewayRooms
  relayedRooms: RelayedRooms
  janusEvents: EventPort
  observer: RequestObserver
  recordings: SiteRecordings
  others: OtherControllers
}

export type LateDependencies = { readonly [K in keyof ConnectedDependencies]: Late<ConnectedDependencies[K]> }

/** Creates the placeholders of all parts bound later. */
export function lateParts(): LateDependencies {
  return {
    pool: new Late('the node pool'),
    rooms: new Late('the rooms'),
    joinLinks: new Late('the join links'),
    gateway: new Late('the signalling gateway'),
    relayedRooms: new Late('the relays'),
    janusEvents: new Late('the event port'),
    observer: new Late('the request observer'),
    recordings: new Late('the recordings'),
    others: new Late('the other controllers'),
  }
}

/** Binds every placeholder: each line is a dependency against the order of composition. */
export function connectServices(late: LateDependencies, dependencies: ConnectedDependencies): void {
  late.pool.bind(dependencies.pool) // Janus nodes ask for other sessions of a user.
  late.rooms.bind(dependencies.rooms) // Media programs open, inspect and lock rooms.
  late.joinLinks.bind(dependencies.joinLinks) // Media programs receive the addresses of other nodes.
  late.recordings.bind(dependencies.recordings) // Media programs report what they record.
  late.gateway.bind(dependencies.gateway) // Media programs report people of rooms whose media is remote.
  late.relayedRooms.bind(dependencies.relayedRooms) // Janus nodes report people and streams.
  late.janusEvents.bind(dependencies.janusEvents) // A change of the Janus nodes changes which event sources are accepted.
  late.observer.bind(dependencies.observer) // Media programs report guesses.
  late.others.bind(dependencies.others) // Media programs receive the duration of the leader's lease.
}
