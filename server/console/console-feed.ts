import type { CredentialView } from '../../shared/console/credentials.ts'
import type { Attention } from '../../shared/console/site.ts'
import type { OutgoingUsers } from '../devices/outgoing-users.ts'
import { isHighWaterMarkKey } from '../event-log/log-seal.ts'
import type { SharedEventLog } from '../event-log/event-log.ts'
import type { FaultRules } from '../lab/faults.ts'
import type { NodePool } from '../nodes/pool/node-pool.ts'
import type { RequestJournal } from '../observe/request-journal.ts'
import type { Samples } from '../observe/samples.ts'
import type { RecordingControl } from '../recordings/recording-control.ts'
import type { RoomViews } from '../rooms/room-views.ts'
import type { WaitingGuests } from '../rooms/waiting-guests.ts'
import type { Store } from '../store/store.ts'
import { Collector, type EventHub } from './event-hub.ts'
import { wallViews } from './wall-procedures.ts'
import type { DeviceView } from '../../shared/domain/devices.ts'

export interface FeedSources {
  hub: EventHub
  store: Store
  pool: NodePool
  roomViews: RoomViews
  guests: Pick<WaitingGuests, 'list' | 'onChange'>
  recordings: Pick<RecordingControl, 'onTargets'>
  devices: Pick<OutgoingUsers, 'fleet' | 'byRoom'>
  journal: RequestJournal
  samples: Samples
  faults: FaultRules
  events: Pick<SharedEventLog, 'onAdded'>
  credentials: () => CredentialView[]
  /** Returns a device; undefined if it does not exist. */
  device: (userId: string) => DeviceView | undefined
  attention: () => Attention[]
}

/** Maximum number of rooms named in one event. Above this number, the event contains `all`. */
const namedRooms = 500
/** Collections displayed on the account pages. */
const accountCollections: ReadonlySet<string> = new Set(['accounts', 'access_tokens', 'account_sessions', 'last_uses'])
/** Interval between two checks of the attention list, in milliseconds. */
const attentionEvery = 1_000

/**
 * Converts changes in the controller to events for the console. Frequent changes are batched: at most four events per
 * second of each kind.
 */
export class ConsoleFeed {
  readonly #sources: FeedSources
  readonly #stops: (() => void)[] = []
  readonly #timer: NodeJS.Timeout
  #attention = ''

  constructor(sources: FeedSources) {
    this.#sources = sources
    const { hub, store, pool, roomViews, devices, journal, samples, faults, events } = sources
    const rooms = new Collector<string>((ids) => {
      const all = ids.length > namedRooms
      hub.emit('rooms.changed', { room_ids: all ? [] : ids, all })
    })
    const waiting = new Collector<string>(() => hub.emit('waiting.changed', sources.guests.list()))
    const recorded = new Collector<string>((ids) => {
      const all = ids.length > namedRooms
      hub.emit('recordings.changed', { room_ids: all ? [] : ids, all })
    })
    const nodes = new Collector<string>(() => hub.emit('nodes.changed', { items: pool.nodes.views() }))
    const credentials = new Collector<string>(() => hub.emit('credentials.changed', { items: sources.credentials() }))
    const accounts = new Collector<string>(() => hub.emit('accounts.changed', {}))
    const deleted = new Collector<string>(() => hub.emit('trash.changed', {}))
    const capabilities = new Collector<string>(() => hub.emit('capabilities.changed', {}))
    const changedDevices = new Collector<string>((userIds) => this.#tellDevices(userIds))
    this.#stops.push(
      roomViews.onChange((roomId) => hub.listening && rooms.add(roomId)),
      sources.guests.onChange((roomId) => hub.listening && waiting.add(roomId)),
      sources.recordings.onTargets((ids) => {
        if (hub.listening) for (const roomId of ids) recorded.add(roomId)
      }),
      devices.fleet.onChange((userId) => hub.listening && changedDevices.add(userId)),
      pool.events.subscribe((event) => {
        if (hub.listening) nodes.add('name' in event ? event.name : event.roomId)
      }),
      store.onChange((changes) => {
        if (!hub.listening) return
        let [walls, trash, orders] = [false, false, false]
        for (const { collection, key } of changes) {
          if (collection === 'nodes') nodes.add(key)
          else if (collection === 'credentials' || collection === 'sessions') credentials.add(key)
          // Devices are displayed with the topic of their room, so a changed room changes its devices.
          else if (collection === 'rooms') for (const userId of devices.byRoom.of(key)) changedDevices.add(userId)
          else if (collection === 'wall_views') walls = true
          else if (collection === 'trash') trash = true
          else if (collection === 'capabilities') capabilities.add('capabilities')
          else if (collection === 'recordings' || collection === 'lives') orders = true
          else if (accountCollections.has(collection) && !isHighWaterMarkKey(key)) accounts.add(collection)
          else if (collection === 'settings') hub.emit('settings.changed', {})
          else if (collection === 'licence') hub.emit('licence.changed', {})
        }
        if (trash) deleted.add('trash')
        if (orders) hub.emit('recordings.changed', { room_ids: [], all: true })
        if (walls) hub.emit('wall.changed', { items: wallViews(store) })
      }),
      store.notices.listen((notice) => hub.emit('store.noticed', notice)),
      journal.onAdded((added) => hub.emit('activity.added', added)),
      events.onAdded((items) => hub.emit('events.added', { items: [...items] })),
      samples.onSample((sample) => hub.emit('overview.sampled', sample)),
      faults.onChange(() => {
        hub.emit('lab.changed', {})
        this.#look()
      }),
      () => rooms.stop(),
      () => waiting.stop(),
      () => recorded.stop(),
      () => nodes.stop(),
      () => credentials.stop(),
      () => accounts.stop(),
      () => deleted.stop(),
      () => capabilities.stop(),
      () => changedDevices.stop(),
    )
    this.#timer = setInterval(() => hub.listening && this.#look(), attentionEvery)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
    for (const stop of this.#stops.splice(0)) stop()
  }

  #tellDevices(userIds: string[]): void {
    const items: DeviceView[] = []
    const removed: string[] = []
    for (const userId of userIds) {
      const view = this.#sources.device(userId)
      if (view === undefined) removed.push(userId)
      else items.push(view)
    }
    this.#sources.hub.emit('devices.changed', { items, removed })
  }

  /** Sends the attention list if it has changed. */
  #look(): void {
    const items = this.#sources.attention()
    const text = JSON.stringify(items)
    if (text === this.#attention) return
    this.#attention = text
    this.#sources.hub.emit('attention.changed', { items })
  }
}
