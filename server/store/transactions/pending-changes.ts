import type { RecordReader } from '../capability-rules.ts'
import type { State } from '../state.ts'
import type { Change, CollectionName, Collections } from '../store.ts'

/** Latest change of each record that is being written and not yet in memory. */
export class PendingChanges {
  /** Changes by collection and key. */
  readonly #latest = new Map<CollectionName, Map<string, Change>>()

  add(changes: readonly Change[]): void {
    for (const change of changes) {
      const latest = this.#latest.get(change.collection)
      if (latest === undefined) this.#latest.set(change.collection, new Map([[change.key, change]]))
      else latest.set(change.key, change)
    }
  }

  /** Removes changes that are in memory now, or were rejected. */
  remove(changes: readonly Change[]): void {
    for (const change of changes) {
      const latest = this.#latest.get(change.collection)
      if (latest?.get(change.key) === change) latest.delete(change.key)
    }
  }

  /** Returns the pending change of a record; undefined: none. */
  of(collection: CollectionName, key: string): Change | undefined {
    return this.#latest.get(collection)?.get(key)
  }

  /** Returns the keys of the records of a collection that have a pending change. */
  keysOf(collection: CollectionName): Iterable<string> {
    return this.#latest.get(collection)?.keys() ?? []
  }
}

/** Number of changes up to which a search is faster than a map. */
const fewChanges = 8

/** State to which a transaction applies. */
export interface ChangedState {
  state: State
  /** Changes of earlier transactions that are not in memory yet. */
  pending: Pick<PendingChanges, 'of' | 'keysOf'>
}

/** State after some changes are applied. */
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
    // A map is faster for a site file or a backup.
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
