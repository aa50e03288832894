import { collectionNames } from '../state.ts'
import type { Change, CollectionName } from '../store.ts'

/** One record that is in memory but not yet on disk. */
interface Waiting {
  change: Change
  /** Whether the disk has an older value of the record: only then must a deletion be written. */
  onDisk: boolean
}

/** Queue of changes that are written with a delay: only the last change of each record is written. */
export class WriteBehindQueue {
  readonly #waiting = new Map<CollectionName, Map<string, Waiting>>()
  #size = 0

  constructor() {
    for (const collection of collectionNames) this.#waiting.set(collection, new Map())
  }

  get size(): number {
    return this.#size
  }

  /** Adds a change. @param existed whether the record was in memory before */
  add(change: Change, existed: boolean): void {
    const records = this.#of(change.collection)
    const waiting = records.get(change.key)
    if (waiting === undefined) {
      // A record that was never on disk needs no deletion.
      if (change.value === undefined && !existed) return
      records.set(change.key, { change, onDisk: existed })
      this.#size++
    } else if (change.value === undefined && !waiting.onDisk) {
      records.delete(change.key)
      this.#size--
    } else waiting.change = change
  }

  /** Drops the pending change of a record, because a transaction has a newer value. */
  forget(collection: CollectionName, key: string): void {
    if (this.#size > 0 && this.#of(collection).delete(key)) this.#size--
  }

  /** Removes and returns up to `max` changes. */
  take(max: number): Change[] {
    const changes: Change[] = []
    for (const records of this.#waiting.values()) {
      for (const [key, { change }] of records) {
        if (changes.length >= max) return changes
        changes.push(change)
        records.delete(key)
        this.#size--
      }
    }
    return changes
  }

  /** Puts back changes that the disk rejected; newer changes of the same records stay. */
  restore(changes: readonly Change[]): void {
    for (const change of changes) {
      const records = this.#of(change.collection)
      if (records.has(change.key)) continue
      records.set(change.key, { change, onDisk: true })
      this.#size++
    }
  }

  #of(collection: CollectionName): Map<string, Waiting> {
    const records = this.#waiting.get(collection)
    if (records === undefined) throw new Error(`There is no collection ${collection}.`)
    return records
  }
}
