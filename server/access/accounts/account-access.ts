import { AccessTokens } from './access-tokens.ts'
import { AccountSessions } from './account-sessions.ts'
import { Accounts } from './accounts.ts'
import type { HashCost } from './password-hash.ts'
import { SignIn } from './sign-in.ts'
import type { AccountStore } from './account-store.ts'

/** Everything on accounts: who they are, how they sign in, and what they are signed in with. */
export interface AccountAccess {
  accounts: Accounts
  signIn: SignIn
  accountSessions: AccountSessions
  accessTokens: AccessTokens
}

/**
 * Composes it over an open store.
 * @param cost of a password's hash
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
