import type { Role } from '../../shared/console/role-names.ts'
import type { TokenScope } from '../../shared/console/token-scopes.ts'
import { hasEnabledAdmin } from '../access/accounts/accounts.ts'
import type { AccessTokens } from '../access/accounts/access-tokens.ts'
import type { AccountSessions } from '../access/accounts/account-sessions.ts'
import { siteSettings } from '../store/site-settings.ts'
import type { AccountStore } from '../access/accounts/account-store.ts'
import type { ConsoleKey } from './console-key.ts'

/** Somebody who has shown who they are, and how. */
export interface Caller {
  role: Role
  way: 'key' | 'password' | 'token'
  /** Name of the account; left out for the console key. */
  account?: string
  accountId?: string
  /** Id of the account's session. */
  session?: string
  /** Label of the access token. */
  token?: string
  tokenId?: string
  /** Scopes of the access token; left out for all other callers. */
  scopes?: readonly TokenScope[]
  /** At a replica: headers by which the leader sees for itself who calls. */
  forLeader?: () => Record<string, string>
}

const keyHolder: Caller = { role: 'admin', way: 'key' }

/** Identifies the caller: the holder of the console key, or an account by its session or a token. */
export class Callers {
  readonly #key: ConsoleKey
  readonly #store: AccountStore
  readonly #sessions: AccountSessions
  readonly #tokens: AccessTokens

  constructor(key: ConsoleKey, store: AccountStore, sessions: AccountSessions, tokens: AccessTokens) {
    this.#key = key
    this.#store = store
    this.#sessions = sessions
    this.#tokens = tokens
  }

  /** Whether the console key is a way in. It is one while no admin could mend the site otherwise, whatever a restored backup or a site file says. */
  get keyCounts(): boolean {
    return siteSettings(this.#store).console.key_sign_in || !hasEnabledAdmin(this.#store.all('accounts').values())
  }

  /** Whether an account could sign in. */
  get passwordCounts(): boolean {
    for (const { enabled } of this.#store.all('accounts').values()) if (enabled) return true
    return false
  }

  /** Caller who has shown the console key of another controller of the site. */
  remoteKeyHolder(): Caller | undefined {
    return this.keyCounts ? keyHolder : undefined
  }

  /** Caller with this session cookie. */
  ofCookie(cookie: string): Caller | undefined {
    if (cookie === '') return undefined
    // The session of a key is signed and has dots; that of an account is random and has none.
    if (cookie.includes('.')) return this.keyCounts && this.#key.holdsSession(cookie) ? keyHolder : undefined
    const live = this.#sessions.check(cookie)
    if (live === undefined) return undefined
    const { id, name, role } = live.account
    return { role, way: 'password', account: name, accountId: id, session: live.id }
  }

  /** Caller with this bearer token: the console key, or an access token. */
  ofBearer(bearer: string): Caller | undefined {
    const live = this.#tokens.check(bearer)
    if (live === undefined) return this.keyCounts && this.#key.matches(bearer) ? keyHolder : undefined
    const { account, role, label, id, scopes } = live
    return { role, way: 'token', account: account.name, accountId: account.id, token: label, tokenId: id, scopes }
  }
}
