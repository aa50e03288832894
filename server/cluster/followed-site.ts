import { ApiError } from '../../shared/result-codes.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import type { Settings } from '../../shared/settings.ts'
import type { SealedPlace } from '../store/sealer.ts'
import type { Sealer } from '../store/sealer.ts'
import type { FollowedStore } from '../store/election/site-member.ts'
import { siteSettings, unsealIn } from '../store/site-settings.ts'
import { ChangeListeners } from '../store/state.ts'
import type { ChangeListener, CollectionName, Store } from '../store/store.ts'

/** Read-only part of a store, for a replica. */
export type ReadStore = Pick<Store, 'get' | 'all' | 'onChange' | 'transact' | 'writeBehind' | 'seal' | 'unseal'>

/**
 * The site of a replica, with the read interface of a store. The underlying store changes with the program's role;
 * listeners receive the changes of every store. `writeBehind` does nothing, because only the leader records the last
 * use of accounts and sessions.
 */
export class FollowedSite implements ReadStore {
  readonly #sealer: Sealer
  readonly #listeners = new ChangeListeners()
  #store: FollowedStore
  #stop: () => void

  constructor(store: FollowedStore, sealer: Sealer) {
    this.#sealer = sealer
    this.#store = store
    this.#stop = store.onChange((...changed) => this.#notify(...changed))
  }

  /** Reads the site from this store from now on. Notifies listeners, because settings and accounts may differ. */
  follow(store: FollowedStore): void {
    this.#stop()
    this.#store = store
    this.#stop = store.onChange((...changed) => this.#notify(...changed))
    const settings = store.get('settings', 'site')
    this.#notify([{ collection: 'settings', key: 'site', value: settings }], [settings])
  }

  settings(): Settings {
    return siteSettings(this)
  }

  get: ReadStore['get'] = (collection, key) => this.#store.get(collection, key)
  all: ReadStore['all'] = (collection) => this.#store.all(collection)

  onChange(listener: ChangeListener, of?: readonly CollectionName[]): () => void {
    return this.#listeners.add(listener, of)
  }

  transact(): Promise<never> {
    return Promise.reject(new ApiError('storage', { refusal: refusal('storeStandsBy') }))
  }

  writeBehind(): void {}

  seal(secret: string, place: SealedPlace): string {
    return this.#sealer.seal(secret, place)
  }

  unseal(sealed: string, place: SealedPlace): string {
    return unsealIn(this, this.#sealer, sealed, place)
  }

  #notify(...[changes, before]: Parameters<ChangeListener>): void {
    this.#listeners.notify(changes, before, (run) => run())
  }
}
