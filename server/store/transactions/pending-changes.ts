import type { Change, CollectionName } from '../store.ts'

/** Latest change of each record that is on its way to the disk, and not yet in memory. */
export class PendingChanges {
  readonly #latest = new Map<string, Change>()

  /** Adds changes of one transaction, in order. */
  add(changes: readonly Change[]): void {
    for (const change of changes) this.#latest.set(nameOf(change.collection, change.key), change)
  }

  /** Removes changes that are in memory now, or were refused. */
  remove(changes: readonly Change[]): void {
    for (const change of changes) {
      const name = nameOf(change.collection, change.key)
      if (this.#latest.get(name) === change) this.#latest.delete(name)
    }
  }

  /** The change of a record; undefined: none. */
  of(collection: CollectionName, key: string): Change | undefined {
    return this.#latest.get(nameOf(collection, key))
  }

  all(): Iterable<Change> {
    return this.#latest.values()
  }
}

function nameOf(collection: CollectionName, key: string): string {
  return `${collection} ${key}`
}
