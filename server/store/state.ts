import { completeRecord } from './complete-record.ts'
import type { Change, CollectionName, Collections } from './store.ts'

/** The live maps, by collection. */
export type State = { [C in CollectionName]: Map<string, Collections[C]> }

export function emptyState(): State {
  return {
    settings: new Map(),
    licence: new Map(),
    credentials: new Map(),
    nodes: new Map(),
    devices: new Map(),
    wall_views: new Map(),
    room_templates: new Map(),
    rooms: new Map(),
    sessions: new Map(),
    accounts: new Map(),
    access_tokens: new Map(),
    account_sessions: new Map(),
    last_uses: new Map(),
    camera_loops: new Map(),
    relay_loops: new Map(),
    relay_observers: new Map(),
    meetings: new Map(),
    recording_wishes: new Map(),
    recording_keeps: new Map(),
    recordings: new Map(),
    lives: new Map(),
    recording_removals: new Map(),
    pending_events: new Map(),
    capabilities: new Map(),
    trash: new Map(),
  }
}

/** Every collection, in a fixed order. */
export const collectionNames = Object.keys(emptyState()) as readonly CollectionName[]

const known: ReadonlySet<unknown> = new Set(collectionNames)

function isCollectionName(name: unknown): name is CollectionName {
  return known.has(name)
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

/** Does to the maps what a change says. @returns the value before it */
export function applyChange<C extends CollectionName>(state: State, change: ChangeOf<C>): Collections[C] | undefined {
  const map: Map<string, Collections[C]> = state[change.collection]
  const before = map.get(change.key)
  if (change.value === undefined) map.delete(change.key)
  else map.set(change.key, change.value)
  return before
}

/** A record as it was read, before any check. */
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
