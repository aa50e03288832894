import type { EventSubject } from '../../shared/domain/events.ts'
import { evenArrangement } from '../../shared/domain/wall-layout.ts'
import { setNewest } from '../../shared/growing-cache.ts'
import { siteSettings } from '../store/site-settings.ts'
import type { RecordReader } from '../store/capability-rules.ts'
import type { CollectionName, Store } from '../store/store.ts'

type Records = Pick<Store, 'get' | 'unseal'>

/** Subject types of records, by collection. Events of these subjects contain the fields before and after a change. */
const typeOfCollection = {
  rooms: 'room',
  devices: 'device',
  nodes: 'node',
  credentials: 'credential',
  accounts: 'account',
  wall_views: 'wall',
  room_templates: 'template',
  settings: 'settings',
  licence: 'licence',
} as const satisfies Partial<Record<CollectionName, EventSubject['type']>>
export type RecordType = (typeof typeOfCollection)[keyof typeof typeOfCollection]
const types: Partial<Record<CollectionName, RecordType>> = typeOfCollection

/** Returns the subject type of a collection's records; undefined: these records are no subjects of events. */
export function recordTypeOf(collection: CollectionName): RecordType | undefined {
  return types[collection]
}

/** Returns a subject with its current name. */
export function subjectOf(store: RecordReader, type: EventSubject['type'], id: string): EventSubject {
  return { type, id, name: nameOf(store, type, id) }
}

/** Returns the name under which events show a room: its topic; empty: unknown room. */
export function roomName(store: RecordReader, roomId: string): string {
  return store.get('rooms', roomId)?.topic ?? ''
}

function nameOf(store: RecordReader, type: EventSubject['type'], id: string): string {
  if (type === 'room') return roomName(store, id)
  if (type === 'device') return store.get('devices', id)?.userName ?? ''
  if (type === 'credential') return store.get('credentials', id)?.label ?? ''
  if (type === 'wall') return store.get('wall_views', id)?.name ?? ''
  if (type === 'template') return store.get('room_templates', id)?.name ?? ''
  if (type === 'account') return store.get('accounts', id)?.name ?? ''
  return type === 'node' ? id : ''
}

/** Returns a record with its secrets, for a comparison that removes them; undefined: no such record. */
export function stateOf(store: Records, type: RecordType, id: string): object | undefined {
  switch (type) {
    case 'room':
      return roomState(store, id)
    case 'device':
      return store.get('devices', id)
    case 'credential':
      return store.get('credentials', id)
    case 'account':
      return accountState(store, id)
    case 'node':
      return store.get('nodes', id)
    case 'settings':
      return siteSettings(store)
    case 'licence':
      return store.get('licence', 'site')
    case 'template':
      return templateState(store, id)
    case 'wall':
      return wallState(store, id)
  }
}

/** Returns a room without removals and actions of its schedule, which have their own events. */
function roomState(store: Records, id: string): object | undefined {
  const room = store.get('rooms', id)
  if (room === undefined) return undefined
  const { removals: _, schedule_mark: _mark, ...state } = room
  return state
}

/** Returns a view with the current names of its tiles, without the revision. */
function wallState(store: Records, id: string): object | undefined {
  const view = store.get('wall_views', id)
  if (view === undefined) return undefined
  const { layout, rotate_s } = view.arrangement ?? evenArrangement
  return { name: view.name, layout, rotate_s, items: view.items.map((item) => tileText(store, item)) }
}

/** Returns the text of a tile, e.g. `Yard, east (camera-7)`; `camera camera-7` if the camera or room does not exist. */
function tileText(store: Records, { kind, id }: { kind: 'camera' | 'room'; id: string }): string {
  const name = nameOf(store, kind === 'camera' ? 'device' : 'room', id)
  return name === '' ? `${kind} ${id}` : `${name} (${id})`
}

function templateState(store: Records, id: string): object | undefined {
  const template = store.get('room_templates', id)
  return template && { name: template.name, settings: template.settings }
}

/** Returns an account without its stamp: ending its sessions does not change the account. */
function accountState(store: Records, id: string): object | undefined {
  const account = store.get('accounts', id)
  if (account === undefined) return undefined
  const { id: _id, stamp: _, password_changed_at: _at, ...state } = account
  return state
}

/** Maximum number of names kept; the oldest are dropped first. */
const maxNames = 5_000

/** Names of people in rooms, for events. Names are kept for a while after people leave. */
export class PeopleNames {
  readonly #names = new Map<string, string>()

  note(roomId: string, userId: string, name: string): void {
    setNewest(this.#names, keyOf(roomId, userId), name, maxNames)
  }

  all(): string[] {
    return [...this.#names.values()]
  }

  /** Returns the name of a person in a room; empty: unknown. */
  of(roomId: string, userId: string): string {
    return this.#names.get(keyOf(roomId, userId)) ?? ''
  }
}

const keyOf = (roomId: string, userId: string): string => JSON.stringify([roomId, userId])
