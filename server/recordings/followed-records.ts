import type { CollectionName, Collections, Store } from '../store/store.ts'

/** Dependencies of following a collection. */
export interface FollowedRecordsParts<C extends CollectionName> {
  store: Pick<Store, 'get' | 'all' | 'onChange' | 'leadership'>
  collection: C
  /**
   * Makes what runs match a record; called again with the same record it changes nothing. undefined: the record is gone, or this controller may not act for it now.
   * An error is reported, and the next change of the record is the next attempt.
   */
  apply: (key: string, record: Collections[C] | undefined) => void
  onError: (error: unknown, key: string) => void
}

/**
 * Derives what runs from the records of a collection: at the start, at every change of a record, whoever stored it and whether or not its caller got an answer, and when the lease of this
 * controller ends or comes back. Without the lease nothing runs.
 */
export class FollowedRecords<C extends CollectionName> {
  readonly #parts: FollowedRecordsParts<C>
  /** Keys of records that were applied last. */
  readonly #applied = new Set<string>()
  readonly #stops: (() => void)[] = []

  constructor(parts: FollowedRecordsParts<C>) {
    this.#parts = parts
  }

  start(): void {
    const { store, collection } = this.#parts
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

  /** Ends everything that runs. */
  close(): void {
    for (const stop of this.#stops.splice(0)) stop()
    for (const key of [...this.#applied]) this.#set(key, undefined)
  }

  #applyAll(): void {
    const { store, collection } = this.#parts
    for (const key of new Set([...this.#applied, ...store.all(collection).keys()])) this.#apply(key)
  }

  #apply(key: string): void {
    const { store, collection } = this.#parts
    this.#set(key, store.leadership.isHeld ? store.get(collection, key) : undefined)
  }

  #set(key: string, record: Collections[C] | undefined): void {
    const { apply, onError } = this.#parts
    if (record !== undefined) this.#applied.add(key)
    else if (!this.#applied.delete(key)) return
    try {
      apply(key, record)
    } catch (error) {
      onError(error, key)
    }
  }
}
