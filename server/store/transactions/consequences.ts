import type { StoredCapability } from '../capability-record.ts'
import { afterRevocation, isContentThere, isMakerEnabled, type RecordReader } from '../capability-rules.ts'
import type { ChangeCause } from '../change-cause.ts'
import { changeOf, type State } from '../state.ts'
import type { Change, CollectionName, Collections } from '../store.ts'

/** Number of changes up to which a search is faster than a map. */
const fewChanges = 8

/** Changes that are being written and not yet in memory. */
interface PendingReader {
  /** Returns the pending change of a record; undefined: none. */
  of(collection: CollectionName, key: string): Change | undefined
  /** Returns the keys of the records of a collection that have a pending change. */
  keysOf(collection: CollectionName): Iterable<string>
}

/** State to which a transaction applies. */
export interface ChangedState {
  state: State
  /** Changes of earlier transactions that are not in memory yet. */
  pending: PendingReader
}

/** State after some changes are applied. */
class StateAfter implements RecordReader {
  readonly #before: ChangedState
  readonly #changes: readonly Change[]
  #changed: ReadonlyMap<string, Change> | undefined

  constructor(before: ChangedState, changes: readonly Change[]) {
    this.#before = before
    this.#changes = changes
  }

  get<C extends CollectionName>(collection: C, key: string): Collections[C] | undefined {
    const { state, pending } = this.#before
    const change = this.#changeOf(collection, key) ?? pending.of(collection, key)
    // The value of a change belongs to its collection; the map cannot express that.
    if (change !== undefined) return change.value as Collections[C] | undefined
    const map: ReadonlyMap<string, Collections[C]> = state[collection]
    return map.get(key)
  }

  #changeOf(collection: CollectionName, key: string): Change | undefined {
    // With many changes, as of a site file or a backup, a map is faster.
    if (this.#changes.length < fewChanges)
      return this.#changes.findLast((change) => change.key === key && change.collection === collection)
    this.#changed ??= new Map(this.#changes.map((change) => [`${change.collection} ${change.key}`, change]))
    return this.#changed.get(`${collection} ${key}`)
  }

  /** Returns the keys of all records of a collection; some of the records may be deleted. */
  *keysOf(collection: CollectionName): Iterable<string> {
    yield* this.#before.state[collection].keys()
    yield* this.#before.pending.keysOf(collection)
  }
}

/**
 * Returns further changes that must be stored with a transaction: the ends of capabilities, and the events of the call.
 * @param now milliseconds since the epoch
 * @throws the error of the call's check, which rejects the transaction
 */
export function consequencesOf(
  state: ChangedState,
  wanted: readonly Change[],
  cause: ChangeCause | undefined,
  now: number,
): Change[] {
  const ended = capabilityConsequences(state, wanted, now)
  if (cause === undefined || wanted.length === 0) return ended
  const changes = ended.length === 0 ? wanted : [...wanted, ...ended]
  const planned = { changes, before: new StateAfter(state, []), after: new StateAfter(state, changes) }
  cause.check?.(planned)
  return [...ended, ...cause.eventsOf(planned)]
}

/** Collections whose changes may end capabilities. */
const concerned: ReadonlySet<CollectionName> = new Set<CollectionName>([
  'accounts',
  'access_tokens',
  'credentials',
  'settings',
  'rooms',
  'lives',
  'recordings',
  'capabilities',
])

/**
 * Returns the changes that end capabilities whose maker, room or content a transaction ends or deletes.
 * The store adds these changes to every transaction, so that no caller needs to. An ended capability stays ended when
 * an account is enabled again or a credential is restored.
 * @param now milliseconds since the epoch
 */
function capabilityConsequences(before: ChangedState, changes: readonly Change[], now: number): Change[] {
  const relevant = changes.filter(isRelevant)
  if (relevant.length === 0) return []
  const after = new StateAfter(before, relevant)
  return [...endedBy(before, relevant, after)].map(([key, capability]) =>
    changeOf('capabilities', key, afterRevocation(capability, now)),
  )
}

/**
 * Whether a change may end capabilities. Changes of rooms are frequent, but only the deletion of a room ends
 * capabilities.
 */
function isRelevant({ collection, value }: Change): boolean {
  return concerned.has(collection) && (collection !== 'rooms' || value === undefined)
}

/** Returns the capabilities that end with these changes, by key. */
function endedBy(
  { state }: ChangedState,
  changes: readonly Change[],
  after: StateAfter,
): Map<string, StoredCapability> {
  const ended = new Map<string, StoredCapability>()
  const deletedRooms = new Set<string>()
  const end = (key: string, isEnded: (capability: StoredCapability) => boolean): void => {
    const capability = after.get('capabilities', key)
    if (capability !== undefined && isEnded(capability)) ended.set(key, capability)
  }
  const mayNotStay = (capability: StoredCapability): boolean => !mayStay(capability, after, deletedRooms)
  let mayEndMany = false
  for (const { collection, key } of changes) {
    if (collection === 'rooms') deletedRooms.add(key)
    if (collection === 'capabilities') end(key, mayNotStay)
    else if (collection !== 'lives' && collection !== 'recordings') mayEndMany = true
    else end(state[collection].get(key)?.capability ?? '', (capability) => !isContentThere(after, capability))
  }
  if (mayEndMany) for (const key of after.keysOf('capabilities')) end(key, mayNotStay)
  return ended
}

function mayStay(capability: StoredCapability, after: StateAfter, deletedRooms: ReadonlySet<string>): boolean {
  // A join link ends only once. While its room is in the trash, nodes reject it.
  if (capability.kind === 'join') return capability.ended_at !== undefined || isMakerEnabled(after, capability)
  if (capability.kind === 'recorded-link' && deletedRooms.has(capability.room_id)) return false
  return isMakerEnabled(after, capability) && isContentThere(after, capability)
}
