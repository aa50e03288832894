import type { Logger } from 'pino'
import type { Settings } from '../../shared/settings.ts'
import type { LicenceCheck } from '../access/licence.ts'
import type { Capabilities } from '../capabilities/capabilities.ts'
import type { OutgoingUsers } from '../devices/outgoing-users.ts'
import { JoinLinks } from '../rooms/join-links.ts'
import { MeetingTimes } from '../rooms/meeting-times.ts'
import { fixedAddresses, OtherControllers } from '../rooms/other-controllers.ts'
import { RoomViews } from '../rooms/room-views.ts'
import { Rooms } from '../rooms/room-lifecycle.ts'
import { ScheduledRooms } from '../rooms/scheduled-rooms.ts'
import type { SiteTags } from '../rooms/tags.ts'
import type { SiteMember } from '../store/election/site-member.ts'
import type { Store } from '../store/store.ts'
import type { Trash } from '../store/trash.ts'
import type { NodeDependencies } from './nodes.ts'

export interface RoomServicesOptions {
  store: Store
  settings: () => Settings
  logger: Logger
  nodes: Pick<NodeDependencies, 'pool' | 'media' | 'guests'>
  outgoing: OutgoingUsers
  capabilities: Capabilities
  trash: Trash
  licence: LicenceCheck
  tags: SiteTags
  defaultNodeAddress: (port: number) => string
  /** Returns the public URL of the media API; empty while its port is closed. */
  mediaUrl: () => string
  /** Membership of this controller in its site; undefined: the only controller. */
  member?: Pick<SiteMember, 'id' | 'controllers' | 'onLeader'> | undefined
}

/** Rooms of a site and the links to them. */
export interface RoomDependencies {
  rooms: Rooms
  joinLinks: JoinLinks
  roomViews: RoomViews
  meetings: MeetingTimes
  /** Opens and closes rooms by their schedules. */
  scheduled: ScheduledRooms
  others: OtherControllers
}

/** Composes the rooms. */
export function roomParts(options: RoomServicesOptions): RoomDependencies {
  const { store, settings, logger, nodes, outgoing, trash, capabilities, licence, defaultNodeAddress, mediaUrl } =
    options
  const { pool, media, guests } = nodes
  const rooms = new Rooms({ store, pool, devices: outgoing, trash, capabilities, licence, settings, logger })
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
  const joinLinks = new JoinLinks({
    store,
    capabilities,
    rooms,
    nodes: pool.nodes,
    settings,
    mediaUrl,
    pageAddress: () => (media?.first.owner === undefined ? '' : defaultNodeAddress(0)),
    otherControllers: () => others.nodeUrls,
  })
  const { presence, events } = pool
  const scheduled = new ScheduledRooms({ store, presence, events, nodes: pool.nodes, logger })
  const meetings = new MeetingTimes({ store, presence, events })
  const roomViews = new RoomViews({ store, rooms, pool, devices: outgoing, guests, meetings, tags: options.tags })
  return { rooms, joinLinks, roomViews, scheduled, meetings, others }
}
