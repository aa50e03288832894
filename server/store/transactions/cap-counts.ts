import type { State } from '../state.ts'
import type { Change, CollectionName, Collections } from '../store.ts'
import { type Cap, caps, type DistinctCap, distinctCaps } from './collection-caps.ts'

type StoredRecord = NonNullable<Change['value']>

/** A record that a transaction adds to a group of a cap. */
export interface Reservation {
  cap: object
  group: string
}

/** Changes that a plan has made so far in a collection. Maps are created when needed. */
export interface PlannedRecords<T> {
  put?: Map<string, T>
  deleted?: Map<string, T>
}

/**
 * Counts records against the caps of their collections. Records that a transaction adds count as soon as its plan puts
 * them, before they are stored. Therefore concurrent transactions cannot exceed a cap together, whatever locks they
 * hold.
 */
export class CapCounts {
  readonly #state: State
  readonly #distinct: DistinctCounts
  /** Number of records that transactions under way add, by cap and group. */
  readonly #reserved = new Map<object, Map<string, number>>()

  constructor(state: State) {
    this.#state = state
    this.#distinct = new DistinctCounts(state)
  }

  /**
   * Reserves room for a record.
   * @param plan earlier changes of the same plan in this collection; undefined: none
   * @returns reservations for `release`
   * @throws the error of a cap that would be exceeded
   */
  reserve<C extends CollectionName>(
    collection: C,
    key: string,
    value: Collections[C],
    plan: PlannedRecords<Collections[C]> | undefined,
  ): Reservation[] {
    const records: ReadonlyMap<string, Collections[C]> = this.#state[collection]
    const deleted = plan?.deleted
    const before = deleted?.has(key) === true ? undefined : (plan?.put?.get(key) ?? records.get(key))
    const added: Reservation[] = []
    for (const cap of capsOf(collection)) {
      const group = groupOf(cap, value)
      if (group === undefined || (before !== undefined && groupOf(cap, before) === group)) continue
      const limit = cap.limit(this.#state)
      const stored = cap.group === undefined ? records.size : count(records.values(), cap, group)
      // Records that the plan deletes make room; records that the plan adds are already reserved.
      const freed = deleted === undefined ? 0 : count(deleted.values(), cap, group)
      if (stored - freed + this.#of(cap, group) >= limit) throw cap.refuse(limit)
      added.push({ cap, group })
    }
    const fresh = this.#freshValues(collection, value)
    if (fresh.length > 0) added.push(...fresh)
    for (const each of added) this.#add(each, 1)
    return added
  }

  /** Updates the counts after changes were applied to memory. @param before their previous values */
  changed(changes: readonly Change[], before: readonly Change['value'][]): void {
    this.#distinct.changed(changes, before)
  }

  /** Reserves values that no record of the collection has yet. @throws the error of the cap that they would exceed */
  #freshValues<C extends CollectionName>(collection: C, value: Collections[C]): Reservation[] {
    const cap = distinctCaps[collection]
    const unknown = cap === undefined ? [] : this.#distinct.unknown(collection, cap, value)
    if (cap === undefined || unknown.length === 0) return []
    const reserved = this.#reserved.get(cap) ?? new Map<string, number>()
    const fresh = unknown.filter((key) => !reserved.has(key)).length
    const underWay = [...reserved.keys()].filter((key) => !this.#distinct.isKnown(collection, key)).length
    if (fresh > 0 && this.#distinct.size(collection) + underWay + fresh > cap.limit) throw cap.refuse(cap.limit)
    return unknown.map((group) => ({ cap, group }))
  }

  release(reservations: readonly Reservation[]): void {
    for (const each of reservations) this.#add(each, -1)
  }

  #of(cap: object, group: string): number {
    return this.#reserved.get(cap)?.get(group) ?? 0
  }

  #add({ cap, group }: Reservation, by: number): void {
    let groups = this.#reserved.get(cap)
    if (groups === undefined) this.#reserved.set(cap, (groups = new Map<string, number>()))
    const after = (groups.get(group) ?? 0) + by
    if (after === 0) groups.delete(group)
    else groups.set(group, after)
  }
}

function capsOf<C extends CollectionName>(collection: C): readonly Cap<Collections[C]>[] {
  return caps[collection]
}

/** Whether a collection has a cap. */
export function isCapped(collection: CollectionName): boolean {
  return caps[collection].length > 0
}

/** Returns the group of a record; undefined: the record does not count. */
function groupOf<T>({ group }: Cap<T>, record: T): string | undefined {
  return group === undefined ? '' : group(record)
}

function count<T>(records: Iterable<T>, cap: Cap<T>, wanted: string): number {
  let found = 0
  for (const record of records) if (groupOf(cap, record) === wanted) found++
  return found
}

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
  unknown(collection: CollectionName, { field, keyOf }: DistinctCap, record: StoredRecord): string[] {
    const values = field in record ? record[field] : undefined
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
  const cap = distinctCaps[collection]
  if (cap === undefined || record === undefined || !(cap.field in record)) return []
  return new Set(record[cap.field]?.map(cap.keyOf))
}
