import type { RecordReader } from '../capability-rules.ts'
import type { State } from '../state.ts'
import type { Change, CollectionName, Collections } from '../store.ts'
import type { PendingChanges } from './pending-changes.ts'

/** State that a transaction changes. */
export interface ChangedState {
  state: State
  /** Changes of earlier transactions that are not in memory yet. */
  pending: Pick<PendingChanges, 'of' | 'all'>
}

/** State as it will be after some changes. */
export class StateAfter implements RecordReader {
  readonly #before: ChangedState
  readonly #changed: ReadonlyMap<string, Change>

  constructor(before: ChangedState, changes: readonly Change[]) {
    this.#before = before
    this.#changed = new Map(changes.map((change) => [`${change.collection} ${change.key}`, change]))
  }

  get<C extends CollectionName>(collection: C, key: string): Collections[C] | undefined {
    const { state, pending } = this.#before
    const change = this.#changed.get(`${collection} ${key}`) ?? pending.of(collection, key)
    // The value of a change belongs to its collection; the map cannot express that.
    if (change !== undefined) return change.value as Collections[C] | undefined
    const map: ReadonlyMap<string, Collections[C]> = state[collection]
    return map.get(key)
  }

  /** Keys of all records of a collection, some of which may be deleted. */
  *keysOf(collection: CollectionName): Iterable<string> {
    yield* this.#before.state[collection].keys()
    for (const change of this.#before.pending.all()) if (change.collection === collection) yield change.key
  }
}
