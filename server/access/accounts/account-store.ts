import type { Store } from '../../store/store.ts'

/** Needs of accounts from a store. */
export type AccountStore = Pick<Store, 'get' | 'all' | 'transact' | 'writeBehind' | 'seal' | 'unseal'>
