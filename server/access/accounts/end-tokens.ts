import { afterRevocation } from '../../store/capability-rules.ts'
import type { Transaction } from '../../store/store.ts'
import { wallClock } from '../../store/system/time.ts'
import type { AccountStore } from './account-store.ts'

/**
 * Ends every access token of an account, and the links and other capabilities that the account created: a user of a
 * leaked password may have created them. The transaction must hold the locks of accounts.
 */
export function endTokens(store: Pick<AccountStore, 'all'>, transaction: Transaction, accountId: string): void {
  for (const [id, { account }] of store.all('access_tokens')) {
    if (account !== accountId) continue
    transaction.delete('access_tokens', id)
    transaction.delete('last_uses', id)
  }
  for (const [id, capability] of store.all('capabilities')) {
    if (capability.maker.type !== 'account' || capability.maker.account !== accountId) continue
    const after = afterRevocation(capability, wallClock())
    if (after === undefined) transaction.delete('capabilities', id)
    else transaction.put('capabilities', id, after)
  }
}
