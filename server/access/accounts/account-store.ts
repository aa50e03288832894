import type { Store } from '../../store/store.ts'

/** Methods of the store that accounts use. */
export type AccountStore = Pick<Store, 'get' | 'all' | 'transact' | 'writeBehind' | 'seal' | 'unseal'>
