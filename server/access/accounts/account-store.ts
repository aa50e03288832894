import type { Store } from '../../store/store.ts'

/** What accounts need of a store. */
export type AccountStore = Pick<Store, 'get' | 'all' | 'transact' | 'writeBehind' | 'seal' | 'unseal'>
