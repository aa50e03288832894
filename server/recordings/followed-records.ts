import type { CollectionName, Collections, Store } from '../store/store.ts'

export interface FollowedRecordsDependencies<C extends CollectionName> {
  store: Pick<Store, 'get' | 'all' | 'onChange' | 'leadership'>
  collection: C
  /**
   * Makes the running work match a record. A repeated call with the same record has no effect. `record` is undefined:
   * the record was deleted, or this controller lost the lease.
   * An error is reported, and the next change of the record retries.
   */
  apply: (key: string, record: Collections[C] | undefined) => void
  onError: (error: unknown, key: string) => void
}

/**
 * Derives running work from the records of a collection. Applies the records at the start, at every change by any
 * controller, and when this controller gains or loses the lease. A change takes effect even if its caller received no
 * response. Without the lease, no work runs.
 */
export class FollowedRecords<C extends CollectionName> {
  readonly #dependencies: FollowedRecordsDependencies<C>
  /** Keys of the records whose work is running. */
  readonly #applied = new Set<string>()
  readonly #stops: (() => void)[] = []

  constructor(dependencies: FollowedRecordsDependencies<C>) {
    this.#dependencies = dependencies
  }

  start(): void {
    const { store, collection } = this.#dependencies
    this.#stops.push(
      store.onChange(
        (changes) => {
          for (const change of changes) if (change.collection === collection) this.#apply(change.key)
        },
        [collection],
      ),
      store.leadership.onChange(() => this.#applyAll()),
    )
    this.#applyAll()
  }

  /** Ends all running work. */
  close(): void {
    for (const stop of this.#stops.splice(0)) stop()
    for (const key of [...this.#applied]) this.#set(key, undefined)
  }

  #applyAll(): void {
    const { store, collection } = this.#dependencies
    for (const key of new Set([...this.#applied, ...store.all(collection).keys()])) this.#apply(key)
  }

  #apply(key: string): void {
    const { store, collection } = this.#dependencies
    this.#set(key, store.leadership.isHeld ? store.get(collection, key) : undefined)
  }

  #set(key: string, record: Collections[C] | undefined): void {
    const { apply, onError } = this.#dependencies
    if (record !== undefined) this.#applied.add(key)
    else if (!this.#applied.delete(key)) return
    try {
      apply(key, record)
    } catch (error) {
      onError(error, key)
    }
  }
}
