import type { CollectionName } from '../store/store.ts'

/** Collections whose changes may end sessions of the console. */
export const endsSessions: readonly CollectionName[] = ['accounts', 'account_sessions', 'settings']
