import { isDeepStrictEqual } from 'node:util'
import { licenceSchema } from '../../shared/licence.ts'
import { nodeConfigSchema } from '../../shared/node.ts'
import type { StoredDeleter, StoredTrash } from './records.ts'
import type { Change, ChangeListener, CollectionName, Collections } from './store.ts'

/** The records in memory, by collection. */
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
    test_cameras: new Map(),
    test_people: new Map(),
    scenario_runs: new Map(),
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

/** Names of all collections, in a fixed order. */
export const collectionNames = Object.keys(emptyState()) as readonly CollectionName[]

const known: ReadonlySet<unknown> = new Set(collectionNames)

function isCollectionName(name: unknown): name is CollectionName {
  return known.has(name)
}

/** A change with a type that ties each collection to its record. */
type ChangeOf<C extends CollectionName> = {
  [K in C]: { collection: K; key: string; value: Collections[K] | undefined }
}[C]

/** Returns a change of one collection. */
export function changeOf<C extends CollectionName>(
  collection: C,
  key: string,
  value: Collections[C] | undefined,
): Change {
  // The signature ties the value to its collection; the compiler cannot infer that through the union.
  return { collection, key, value } as Change
}

/** Applies a change to the maps. @returns the previous value */
export function applyChange<C extends CollectionName>(state: State, change: ChangeOf<C>): Collections[C] | undefined {
  const map: Map<string, Collections[C]> = state[change.collection]
  const before = map.get(change.key)
  if (change.value === undefined) map.delete(change.key)
  else map.set(change.key, change.value)
  return before
}

/** A record as read, before any validation. */
export interface RawRecord {
  collection: string
  key: string
  /** undefined: the record was deleted. */
  value: object | undefined
}

/** Converts a record of the current version to a change; undefined for an unknown collection. */
export function toChange(record: RawRecord): Change | undefined {
  if (!isCollectionName(record.collection)) return undefined
  const value = record.value === undefined ? undefined : completeRecord(record.collection, record.value)
  // This schema version wrote the record and its checksum is valid, so it has the shape of its collection.
  return { ...record, value } as Change
}

const node = nodeConfigSchema.omit({ name: true, kind: true }).parse({})
/** Defaults of fields that were added in a later version. */
const defaults: Partial<Record<CollectionName, object>> = {
  licence: licenceSchema.parse({}),
  nodes: { ...node, created_at: 0, draining: false, secrets_sealed: '' },
}

/** Adds missing fields to a record of an earlier version. Settings are completed where they are read. */
function completeRecord(collection: CollectionName, value: object): object {
  // This program wrote the record, so it has the shape of its collection.
  if (collection === 'trash') return withSharedParts(value as StoredTrash)
  const fields = defaults[collection]
  return fields === undefined ? value : { ...fields, ...value }
}

/** Maximum number of cached authors. */
const maxAuthors = 1_000

const authors = new Map<string, StoredDeleter>()
const noDevices = Object.freeze([])
let latestBatch = ''

/**
 * Lets an entry of the trash share its author, batch id and empty list of devices with other entries, and returns the
 * entry. Otherwise every entry read from disk would have its own copies, and the trash can be as large as the site.
 */
export function withSharedParts(entry: StoredTrash): StoredTrash {
  if (entry.batch === latestBatch) entry.batch = latestBatch
  else latestBatch = entry.batch
  entry.deleted_by = shared(entry.deleted_by)
  if (entry.kind === 'rooms' && entry.devices.length === 0) entry.devices = noDevices
  return entry
}

function shared(author: StoredDeleter): StoredDeleter {
  const key = `${author.type}/${author.name}`
  const known = authors.get(key)
  if (known !== undefined) return known
  if (authors.size >= maxAuthors) authors.clear()
  authors.set(key, author)
  return author
}

/** Returns the changes that turn `from` into `to`, in no particular order. */
export function changesBetween(from: State, to: State): Change[] {
  return collectionNames.flatMap((collection) => changesOf(collection, from, to))
}

function changesOf(collection: CollectionName, from: State, to: State): Change[] {
  const [before, after]: ReadonlyMap<string, object>[] = [from[collection], to[collection]]
  const changes: Change[] = []
  if (before === undefined || after === undefined) return changes
  for (const key of before.keys()) if (!after.has(key)) changes.push(changeOf(collection, key, undefined))
  for (const [key, value] of to[collection])
    if (!isDeepStrictEqual(before.get(key), value)) changes.push(changeOf(collection, key, value))
  return changes
}

interface Registered {
  listener: ChangeListener
  of: readonly CollectionName[] | undefined
}

/**
 * Listeners for changes of a store, called in the order of their registration. A listener may be limited to some
 * collections.
 */
export class ChangeListeners {
  readonly #registered = new Set<Registered>()

  /** See Store.onChange. */
  add(listener: ChangeListener, of: readonly CollectionName[] | undefined): () => void {
    const registered = { listener, of }
    this.#registered.add(registered)
    return () => void this.#registered.delete(registered)
  }

  /** Calls the listeners of the changed collections. @param call runs a listener and handles its errors */
  notify(changes: readonly Change[], before: readonly Change['value'][], call: (run: () => void) => void): void {
    for (const { listener, of } of this.#registered)
      if (of === undefined || changes.some(({ collection }) => of.includes(collection)))
        call(() => listener(changes, before))
  }
}
