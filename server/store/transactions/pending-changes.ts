import type { Change, CollectionName } from '../store.ts'

/** Latest change of each record that is on its way to the disk, and not yet in memory. */
export class PendingChanges {
  /** By collection and key. */
  readonly #latest = new Map<CollectionName, Map<string, Change>>()

  /** Adds changes of one transaction, in order. */
  add(changes: readonly Change[]): void {
    for (const change of changes) {
      const latest = this.#latest.get(change.collection)
      if (latest === undefined) this.#latest.set(change.collection, new Map([[change.key, change]]))
      else latest.set(change.key, change)
    }
  }

  /** Removes changes that are in memory now, or were refused. */
  remove(changes: readonly Change[]): void {
    for (const change of changes) {
      const latest = this.#latest.get(change.collection)
      if (latest?.get(change.key) === change) latest.delete(change.key)
    }
  }

  /** The change of a record; undefined: none. */
  of(collection: CollectionName, key: string): Change | undefined {
    return this.#latest.get(collection)?.get(key)
  }

  /** Keys of the records of a collection that have a change. */
  keysOf(collection: CollectionName): Iterable<string> {
    return this.#latest.get(collection)?.keys() ?? []
  }
}
