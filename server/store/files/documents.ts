import { completeRecord } from '../complete-record.ts'
import type { Change, CollectionName, Collections } from '../store.ts'

/** Which collections each of lowdb's files holds. */
export const layout = {
  site: ['settings', 'licence', 'credentials', 'nodes', 'devices', 'accounts', 'access_tokens', 'wall_views'],
  rooms: ['rooms'],
  sessions: ['sessions', 'account_sessions', 'last_uses', 'camera_loops'],
} as const satisfies Record<string, readonly CollectionName[]>

/** One of lowdb's files, `<name>.json`. */
export type DocumentName = keyof typeof layout

/** The files in the order they are read and written. */
export const documentNames: readonly DocumentName[] = ['site', 'rooms', 'sessions']

/** The live maps, by collection. */
export type State = { [C in CollectionName]: Map<string, Collections[C]> }

/** What lowdb holds of one file: its live maps and what a start must know about them. */
export interface StoredDocument {
  /** Number of the first journal segment whose changes are not in this file. */
  first_segment: number
  /** Milliseconds since the epoch. */
  written_at: number
  /** The highest room number ever given. */
  room_number: number
  /** All collections; the file holds those that `layout` names. */
  state: State
}

const fileOfCollection: Readonly<Record<CollectionName, DocumentName>> = {
  settings: 'site',
  licence: 'site',
  credentials: 'site',
  nodes: 'site',
  devices: 'site',
  wall_views: 'site',
  rooms: 'rooms',
  sessions: 'sessions',
  accounts: 'site',
  access_tokens: 'site',
  account_sessions: 'sessions',
  last_uses: 'sessions',
  camera_loops: 'sessions',
}

export function documentOf(collection: CollectionName): DocumentName {
  return fileOfCollection[collection]
}

export function isCollectionName(name: unknown): name is CollectionName {
  return typeof name === 'string' && Object.hasOwn(fileOfCollection, name)
}

export function emptyState(): State {
  return {
    settings: new Map(),
    licence: new Map(),
    credentials: new Map(),
    nodes: new Map(),
    devices: new Map(),
    wall_views: new Map(),
    rooms: new Map(),
    sessions: new Map(),
    accounts: new Map(),
    access_tokens: new Map(),
    account_sessions: new Map(),
    last_uses: new Map(),
    camera_loops: new Map(),
  }
}

/** Change, seen so that the compiler follows which collection holds which record. */
type ChangeOf<C extends CollectionName> = {
  [K in C]: { collection: K; key: string; value: Collections[K] | undefined }
}[C]

/** A change of one collection. */
export function changeOf<C extends CollectionName>(
  collection: C,
  key: string,
  value: Collections[C] | undefined,
): Change {
  // The signature ties value to collection; the compiler cannot see that through the union.
  return { collection, key, value } as Change
}

/** Does to the maps what a change says. */
export function applyChange<C extends CollectionName>(state: State, change: ChangeOf<C>): void {
  const map: Map<string, Collections[C]> = state[change.collection]
  if (change.value === undefined) map.delete(change.key)
  else map.set(change.key, change.value)
}

/** A record as it was read, before anything is known about it. */
export interface RawRecord {
  collection: string
  key: string
  /** undefined: the record was deleted. */
  value: object | undefined
}

/** The change that a record of the current version stands for; undefined when we know no such collection. */
export function toChange(record: RawRecord): Change | undefined {
  if (!isCollectionName(record.collection)) return undefined
  const value = record.value === undefined ? undefined : completeRecord(record.collection, record.value)
  // The record was written by this schema version and its checksum is right: it has the shape its collection says.
  return { ...record, value } as Change
}

/** Name of a file, of the one it replaced, and of the one being written. */
export const fileName = (name: DocumentName): string => `${name}.json`
export const previousName = (name: DocumentName): string => `${name}.previous.json`
export const temporaryName = (name: DocumentName): string => `${name}.json.tmp`
