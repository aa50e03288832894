import type { RecordReader } from '../capability-rules.ts'
import type { State } from '../state.ts'
import type { Change, CollectionName, Collections } from '../store.ts'
import type { PendingChanges } from './pending-changes.ts'

/** Number of changes up to which a search is faster than a map. */
const fewChanges = 8

/** State that a transaction changes. */
export interface ChangedState {
  state: State
  /** Changes of earlier transactions that are not in memory yet. */
  pending: Pick<PendingChanges, 'of' | 'keysOf'>
}

/** State as it will be after some changes. */
export class StateAfter implements RecordReader {
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
    // A map pays off for a site file or a backup.
    if (this.#changes.length < fewChanges)
      return this.#changes.findLast((change) => change.key === key && change.collection === collection)
    this.#changed ??= new Map(this.#changes.map((change) => [`${change.collection} ${change.key}`, change]))
    return this.#changed.get(`${collection} ${key}`)
  }

  /** Keys of all records of a collection, some of which may be deleted. */
  *keysOf(collection: CollectionName): Iterable<string> {
    yield* this.#before.state[collection].keys()
    yield* this.#before.pending.keysOf(collection)
  }
}
