import { AccessTokens } from './access-tokens.ts'
import { AccountSessions } from './account-sessions.ts'
import { Accounts, type AccountStore } from './accounts.ts'
import type { HashCost } from './password-hash.ts'
import { SignIn } from './sign-in.ts'

/** Access to accounts: the accounts themselves, sign-in, sessions and tokens. */
export interface AccountAccess {
  accounts: Accounts
  signIn: SignIn
  accountSessions: AccountSessions
  accessTokens: AccessTokens
}

/**
 * Composes the access to accounts over an open store.
 * @param cost cost of hashing a password
 * @param now milliseconds since the epoch
 */
export function accountAccess(store: AccountStore, cost?: HashCost, now?: () => number): AccountAccess {
  const accounts = new Accounts(store, now, cost)
  return {
    accounts,
    signIn: new SignIn(accounts),
    accountSessions: new AccountSessions(store, now),
    accessTokens: new AccessTokens(store, now),
  }
}
