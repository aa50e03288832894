import type { EventFields, EventSubject } from '../../shared/domain/events.ts'
import { evenArrangement } from '../../shared/domain/wall-layout.ts'
import { setNewest } from '../../shared/growing-cache.ts'
import { shownAddress } from '../observe/redaction/address.ts'
import { isSecret, withoutSecretText } from '../observe/redaction/log-fields.ts'
import { redacted, textLength } from '../observe/redaction/plain-text.ts'
import type { RecordReader } from '../store/capability-rules.ts'
import type { PlannedChange } from '../store/change-cause.ts'
import { siteSettings } from '../store/site-settings.ts'
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
type RecordType = (typeof typeOfCollection)[keyof typeof typeOfCollection]
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
function stateOf(store: Records, type: RecordType, id: string): object | undefined {
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

/** A record that a transaction changes, with the changed fields. */
interface ChangedRecord {
  subject: EventSubject
  before: EventFields
  after: EventFields
}

/**
 * Returns the records of these types that a transaction changes, without secrets. Records whose visible fields stay the
 * same are left out.
 */
export function changedRecords(
  planned: PlannedChange,
  wanted: readonly RecordType[],
  store: Pick<Store, 'unseal'>,
): ChangedRecord[] {
  const [old, young] = [withSecrets(planned.before, store), withSecrets(planned.after, store)]
  const found = new Map<string, ChangedRecord>()
  for (const { collection, key } of planned.changes) {
    const type = recordTypeOf(collection)
    if (type === undefined || !wanted.includes(type)) continue
    const changes = difference(stateOf(old, type, key), stateOf(young, type, key))
    if (changes === undefined) continue
    const now = subjectOf(young, type, key)
    found.set(`${type} ${key}`, { subject: now.name === '' ? subjectOf(old, type, key) : now, ...changes })
  }
  return [...found.values()]
}

function withSecrets(reader: RecordReader, store: Pick<Store, 'unseal'>): Pick<Store, 'get' | 'unseal'> {
  return {
    get: (collection, key) => reader.get(collection, key),
    unseal: (sealed, place) => store.unseal(sealed, place),
  }
}

type Scalar = EventFields[string]

/** Returns the changed fields of a state by path, without secrets; undefined: none. */
function difference(
  before: object | undefined,
  after: object | undefined,
): { before: EventFields; after: EventFields } | undefined {
  const [old, young] = [flat(before), flat(after)]
  const changed = [...new Set([...old.keys(), ...young.keys()])].filter((path) => old.get(path) !== young.get(path))
  if (changed.length === 0) return undefined
  const part = (fields: ReadonlyMap<string, Scalar>): EventFields =>
    Object.fromEntries(
      changed.flatMap((path) => {
        const value = fields.get(path)
        return value === undefined ? [] : [[path.replace(/_sealed$/, ''), shown(path, value)]]
      }),
    )
  return { before: part(old), after: part(young) }
}

/** Flattens a document to values by path, e.g. `media.ice_servers.0.username`. */
function flat(value: unknown, path = '', fields = new Map<string, Scalar>()): Map<string, Scalar> {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || value === null) {
    fields.set(path, value)
  } else if (Array.isArray(value) && value.every((item) => typeof item === 'string')) {
    fields.set(path, value.join(', '))
  } else if (typeof value === 'object') {
    for (const [name, part] of Object.entries(value)) flat(part, path === '' ? name : `${path}.${name}`, fields)
  }
  return fields
}

/**
 * Returns the form of a value for the log: a placeholder for a secret, a camera address without its login, the length
 * of a caller's free text.
 */
function shown(path: string, value: Scalar): Scalar {
  if (typeof value !== 'string' || value === '') return value
  const name = path.slice(path.lastIndexOf('.') + 1)
  if (isSecret(name, value) || name.endsWith('_sealed')) return redacted
  if (name === 'userAddress' || name === 'assist_address') return shownAddress(value)
  if (path.startsWith('options.') || name === 'userData') return textLength(value)
  return withoutSecretText(value)
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
