import { collectionNames } from '../state.ts'
import type { Change, CollectionName } from '../store.ts'

/** A change that is waiting to be written. */
export interface Committing {
  readonly line: string
  /** Further lines of a change that is stored in several lines. */
  readonly further?: readonly string[]
  /** Whether the caller received an error, so that the change must not be written. */
  cancelled: boolean
}

/** Maximum number of characters in one write. */
const groupLength = 512 * 1024

/** Queue of transactions that are not written yet, taken in groups that fit into one write. */
export class CommitQueue<T extends Committing> {
  #pending: T[] = []

  get size(): number {
    return this.#pending.length
  }

  add(entry: T): void {
    this.#pending.push(entry)
  }

  /** Removes an entry. @returns whether it was in the queue */
  remove(entry: T): boolean {
    const index = this.#pending.indexOf(entry)
    if (index === -1) return false
    this.#pending.splice(index, 1)
    return true
  }

  /** Removes and returns the entries for the next write; drops cancelled entries. */
  takeGroup(): T[] {
    const group: T[] = []
    let length = 0
    let taken = 0
    for (const entry of this.#pending) {
      if (length > 0 && length + entry.line.length > groupLength) break
      taken++
      if (entry.cancelled) continue
      length += entry.line.length
      group.push(entry)
    }
    this.#pending = taken === this.#pending.length ? [] : this.#pending.slice(taken)
    return group
  }

  takeAll(): T[] {
    const group = this.#pending
    this.#pending = []
    return group
  }

  /**
   * Returns an unwritten group to the front of the queue, without cancelled entries.
   * @returns the cancelled entries
   */
  putBack(group: readonly T[]): T[] {
    this.#pending = [...group.filter(({ cancelled }) => !cancelled), ...this.#pending]
    return group.filter(({ cancelled }) => cancelled)
  }
}

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
