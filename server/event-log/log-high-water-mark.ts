import type { Store } from '../store/store.ts'

/**
 * Lower bound of the number of the log's last entry, stored outside the log's folder: changes in the folder do not
 * change this bound.
 */
export interface LogHighWaterMark {
  /** Returns the stored number; 0: unknown. */
  read(): number
  /** @param seq number of the newest entry on disk */
  note(seq: number): void
}

/** Parts of the store that a high-water mark uses. */
type HighWaterMarkStore = Pick<Store, 'get' | 'writeBehind'>

/**
 * Prefix of the keys of high-water marks in `last_uses`, a collection that older versions also have. No account or
 * token has a key with this prefix.
 */
const prefix = 'event log'

/**
 * Returns the key of a controller's high-water mark.
 * @param controller id of the controller on a site in a database; empty on a site in files
 */
export function highWaterMarkKey(controller: string): string {
  return `${prefix} ${controller}`.trim()
}

export function isHighWaterMarkKey(key: string): boolean {
  return key.startsWith(prefix)
}

/** Stores the high-water mark of a controller. While another controller leads, the mark is only read. */
export class StoredHighWaterMark implements LogHighWaterMark {
  readonly #key: string
  #store: HighWaterMarkStore

  constructor(store: HighWaterMarkStore, controller = '') {
    this.#key = highWaterMarkKey(controller)
    this.#store = store
  }

  /** Uses another store from now on. */
  follow(store: HighWaterMarkStore): void {
    this.#store = store
  }

  read(): number {
    return this.#store.get('last_uses', this.#key)?.seq ?? 0
  }

  note(seq: number): void {
    if (seq > this.read()) this.#store.writeBehind('last_uses', this.#key, { at: Date.now(), seq })
  }
}
