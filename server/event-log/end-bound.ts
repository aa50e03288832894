import type { Store } from '../store/store.ts'

/** Least number that the log has reached, kept outside its folder: removing or shortening the folder does not change it. */
export interface EndBound {
  /** 0: unknown. */
  read(): number
  /** @param seq of the newest entry that is on the disk */
  note(seq: number): void
}

/** The parts of a store that keep a bound. */
type BoundStore = Pick<Store, 'get' | 'writeBehind'>

/** Marks the records of bounds in a collection that older versions know, too: no account or token is called so. */
const prefix = 'event log'

/** The record of a controller's bound. @param controller its id on a site in a database; empty on a site in files */
export function boundKey(controller: string): string {
  return `${prefix} ${controller}`.trim()
}

export function isBoundKey(key: string): boolean {
  return key.startsWith(prefix)
}

/** Keeps a controller's bound in the store. While another controller leads, that is read only. */
export class StoredBound implements EndBound {
  readonly #key: string
  #store: BoundStore

  constructor(store: BoundStore, controller = '') {
    this.#key = boundKey(controller)
    this.#store = store
  }

  /** Uses another store from now on. */
  follow(store: BoundStore): void {
    this.#store = store
  }

  read(): number {
    return this.#store.get('last_uses', this.#key)?.seq ?? 0
  }

  note(seq: number): void {
    if (seq > this.read()) this.#store.writeBehind('last_uses', this.#key, { at: Date.now(), seq })
  }
}
