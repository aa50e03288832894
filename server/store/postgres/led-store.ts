import { DurableStore, type DurableStoreOptions } from '../durable-store.ts'
import type { LedStore } from '../site-member.ts'
import type { DatabaseStorage } from './database-storage.ts'

/** The store of the controller that leads a site in a database. */
export class DatabaseStore extends DurableStore implements LedStore {
  readonly #storage: DatabaseStorage

  constructor(options: DurableStoreOptions & { storage: DatabaseStorage }) {
    super(options)
    this.#storage = options.storage
  }

  get epoch(): string {
    return this.#storage.link.epoch
  }

  get deposed(): Promise<Error> {
    return this.#storage.link.deposition
  }

  confirmed(): Promise<void> | undefined {
    return undefined
  }
}
