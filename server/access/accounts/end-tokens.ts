import type { Transaction } from '../../store/store.ts'
import type { AccountStore } from './account-store.ts'

/** Ends every access token of an account, within a transaction that holds the locks of accounts. */
export function endTokens(store: Pick<AccountStore, 'all'>, transaction: Transaction, accountId: string): void {
  for (const [id, { account }] of store.all('access_tokens')) {
    if (account !== accountId) continue
    transaction.delete('access_tokens', id)
    transaction.delete('last_uses', id)
  }
}
