import type { Change, CollectionName, Collections } from '../store.ts'
import type { State } from '../state.ts'
import { type DistinctCap, distinctCaps } from './collection-caps.ts'

/**
 * Number of records per value. The counts of a collection are made when a record with values is first put, and updated
 * with every later change.
 */
export class DistinctCounts {
  readonly #state: State
  readonly #counts = new Map<CollectionName, Map<string, number>>()

  constructor(state: State) {
    this.#state = state
  }

  /** Returns the keys of values that no stored record of the collection has. */
  unknown<C extends CollectionName>(
    collection: C,
    { list, keyOf }: DistinctCap<Collections[C]>,
    value: Collections[C],
  ) {
    const values = list(value)
    if (values === undefined || values.length === 0) return []
    const counts = this.#of(collection)
    return [...new Set(values.map(keyOf))].filter((key) => !counts.has(key))
  }

  /** Returns the number of distinct values of the stored records. */
  size(collection: CollectionName): number {
    return this.#of(collection).size
  }

  isKnown(collection: CollectionName, key: string): boolean {
    return this.#of(collection).has(key)
  }

  /** Updates the counts after changes were applied to memory. @param before their previous values */
  changed(changes: readonly Change[], before: readonly Change['value'][]): void {
    for (const [index, { collection, value }] of changes.entries()) {
      const counts = this.#counts.get(collection)
      if (counts === undefined) continue
      const [was, is] = [keysOf(collection, before[index]), keysOf(collection, value)]
      for (const key of is) counts.set(key, (counts.get(key) ?? 0) + 1)
      for (const key of was) {
        const after = (counts.get(key) ?? 0) - 1
        if (after > 0) counts.set(key, after)
        else counts.delete(key)
      }
    }
  }

  #of(collection: CollectionName): Map<string, number> {
    const known = this.#counts.get(collection)
    if (known !== undefined) return known
    const counts = new Map<string, number>()
    for (const record of this.#state[collection].values())
      for (const key of keysOf(collection, record)) counts.set(key, (counts.get(key) ?? 0) + 1)
    this.#counts.set(collection, counts)
    return counts
  }
}

/** Returns the distinct keys of the values of a record. */
function keysOf(collection: CollectionName, record: Change['value']): Iterable<string> {
  // The record and the cap belong to the same collection.
  const cap = distinctCaps[collection] as DistinctCap<Change['value']> | undefined
  const values = record === undefined ? undefined : cap?.list(record)
  return cap === undefined || values === undefined ? [] : new Set(values.map(cap.keyOf))
}
