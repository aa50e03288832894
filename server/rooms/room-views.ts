import { hoursOf } from '../schedule/room-hours.ts'
import { shownName } from '../../shared/control-character.ts'
import type { NodeUser } from '../nodes/port/media-node-port.ts'
import type { StoredRoom } from '../store/records.ts'
import { versionOf } from '../store/record-edits.ts'
import type { Store } from '../store/store.ts'
import type { MeetingTimes } from './meeting-times.ts'
import { isNarrowed, type RoomFilter, RoomList, type RoomQuery } from './room-list.ts'
import type { RoomDevices, RoomPool, Rooms } from './room-lifecycle.ts'
import { type KnownTag, tagKey } from '../../shared/tags.ts'
import type { SiteTags } from './tags.ts'
import type { WaitingGuests } from './waiting-guests.ts'
import { roomStatuses, type RoomUserView, type RoomView } from '../../shared/domain/rooms.ts'

export interface RoomViewsOptions {
  store: Store
  rooms: Rooms
  pool: RoomPool
  devices: RoomDevices
  guests: Pick<WaitingGuests, 'count' | 'onChange'>
  meetings: Pick<MeetingTimes, 'since'>
  tags: Pick<SiteTags, 'rooms'>
}

/** Rooms for the console, without secrets. */
export class RoomViews {
  readonly #options: RoomViewsOptions
  readonly #list: RoomList

  constructor(options: RoomViewsOptions) {
    this.#options = options
    this.#list = new RoomList(options.store, {
      status: (room) => this.#status(room),
      users: (roomId) => options.pool.presence.count(roomId),
      people: (roomId) => options.pool.presence.peopleIn(roomId),
      tagged: (tags) => options.tags.rooms.withAll(tags),
    })
  }

  /** Ends the subscriptions. */
  close(): void {
    this.#list.close()
  }

  /** Returns one page of the matching rooms. With tags in the filter, the site's tags must be ready. */
  list(query: RoomQuery): { total: number; all: number; items: RoomView[] } {
    const { total, rooms } = this.#list.select(query)
    return { total, all: this.#options.store.all('rooms').size, items: rooms.map((room) => this.view(room)) }
  }

  /** Returns the tags of the matching rooms, with the number of rooms of each. The site's tags must be ready. */
  groups(filter: RoomFilter): { total: number; all: number; groups: KnownTag[]; untagged: number } {
    const { store, tags } = this.#options
    const all = store.all('rooms').size
    const known = tags.rooms.list()
    if (!isNarrowed(filter)) return { total: all, all, groups: known, untagged: all - tags.rooms.tagged }
    const { total, untagged, counts } = this.#list.countTags(filter)
    const groups = known.flatMap(({ tag }) => {
      const count = counts.get(tagKey(tag)) ?? 0
      return count === 0 ? [] : [{ tag, count }]
    })
    return { total, all, groups, untagged }
  }

  /**
   * Returns one room with its users and its address for clients; an empty address: no node, or the node has no address.
   * @throws ApiError roomNotFound
   */
  detail(roomId: string): { room: RoomView; users: RoomUserView[]; addr: string } {
    const { rooms, pool } = this.#options
    const room = rooms.get(roomId)
    return {
      room: this.view(room),
      users: rooms.named(pool.presence.usersOf(roomId)).map(userView),
      addr: this.#address(room),
    }
  }

  /** Returns the view of one room. */
  view(room: StoredRoom): RoomView {
    const { pool, devices, rooms, guests, meetings } = this.#options
    return {
      id: room.id,
      room_id: room.room_id,
      topic: shownName(room.topic),
      status: this.#status(room),
      owner_id: shownName(room.owner_id),
      room_mode: room.room_mode,
      attendee_max: room.attendee_max,
      max_audio: room.max_audio,
      max_video: room.max_video,
      has_host_password: room.host_password_sealed !== '',
      entry_by_number: room.entry_by_number ?? 'inherit',
      open_to_number: rooms.openToNumber(room),
      waiting_room: room.waiting_room ?? false,
      schedule: room.schedule ?? null,
      meeting: meetingOf(room),
      room_extend_id: room.room_extend_id,
      tags: [...(room.tags ?? [])],
      node: room.node,
      branches: [...(room.branches ?? [])],
      people: pool.presence.peopleIn(room.room_id),
      users: pool.presence.count(room.room_id),
      devices: devices.byRoom.of(room.room_id).size,
      meeting_since: meetings.since(room.room_id),
      waiting: guests.count(room.room_id),
      hands: pool.presence.handsIn(room.room_id),
      created_by: room.created_by,
      created_at: room.created_at,
      version: versionOf('room', room),
    }
  }

  /**
   * Calls the listener with the room_id of each room that was created, changed, deleted, entered or left, or whose
   * devices or waiting guests changed. The same room_id may be reported several times.
   * @returns a function that unsubscribes the listener
   */
  onChange(listener: (roomId: string) => void): () => void {
    const { store, pool, guests } = this.#options
    const stopGuests = guests.onChange(listener)
    const stopStore = store.onChange(
      (changes) => {
        for (const change of changes) {
          if (change.collection === 'rooms') listener(change.key)
          else if (change.collection === 'devices' && change.value !== undefined) listener(change.value.roomId)
        }
      },
      ['rooms', 'devices'],
    )
    const stopPool = pool.events.subscribe((event) => {
      if (event.type === 'joined' || event.type === 'left') listener(event.roomId)
    })
    return () => {
      stopGuests()
      stopStore()
      stopPool()
    }
  }

  #status(room: StoredRoom): RoomView['status'] {
    return roomStatuses[this.#options.rooms.status(room)]
  }

  #address(room: StoredRoom): string {
    try {
      return room.node === '' ? '' : this.#options.pool.nodes.address(room.node)
    } catch {
      // The node has no address for clients.
      return ''
    }
  }
}

/** Returns the meeting for which a room is open, otherwise its next meeting; null: none. */
function meetingOf({ schedule, schedule_mark: mark }: StoredRoom): RoomView['meeting'] {
  if (schedule === undefined) return null
  const { open, meeting, next, opensAt, closesAt } = hoursOf(schedule, mark, Date.now())
  const shown = open ? meeting : next
  if (shown === undefined) return null
  const opens = open ? shown.start - schedule.early_minutes * 60_000 : opensAt
  return { ...shown, open, opens_at: opens, closes_at: closesAt }
}

/** Returns the view of a user in a room. */
export function userView(user: NodeUser): RoomUserView {
  return {
    user_id: user.userId,
    user_name: shownName(user.userName),
    device: user.device,
    role: user.role,
    by_number: user.byNumber ?? false,
    hand: user.hand ?? 0,
    joined_at: user.joinedAt,
  }
}
