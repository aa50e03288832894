import type { Role } from '../../shared/domain/roles.ts'
import type { TokenScope } from '../../shared/domain/token-scopes.ts'
import { hasEnabledAdmin } from '../access/accounts/accounts.ts'
import type { AccessTokens } from '../access/accounts/access-tokens.ts'
import type { AccountSessions } from '../access/accounts/account-sessions.ts'
import { siteSettings } from '../store/site-settings.ts'
import type { AccountStore } from '../access/accounts/account-store.ts'
import type { ConsoleKey } from './console-key.ts'
import { type PageProof, provesPage, ticketFor } from '../access/accounts/page-half.ts'
import type { CollectionName } from '../store/store.ts'

/**
 * How a caller has shown who they are. `key`: by the console key in this very call; `key_session`: by a browser's session of it; `password`: by a session
 * of an account; `token`: by an access token. Each has a rule in `freshness`.
 */
type WayIn = 'key' | 'key_session' | 'password' | 'token'

/** Somebody who has shown who they are, and how. */
export interface Caller {
  role: Role
  way: WayIn
  /** Name of the account; left out for the console key. */
  account?: string
  accountId?: string
  /** Id of the session. */
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

/** Whether the holder of a session, by its id, has shown a secret within the last ten minutes. A way in without a rule does not compile. */
export type Freshness = Readonly<Record<WayIn, (session: string) => boolean>>

/** Rules of freshness. @param key undefined on the desktop, which has no console port */
export function freshness(
  sessions: Pick<AccountSessions, 'isFresh'>,
  key: Pick<ConsoleKey, 'isFresh'> | undefined,
): Freshness {
  return {
    // Shown in this very call.
    key: () => true,
    key_session: (session) => key?.isFresh(session) === true,
    password: (session) => sessions.isFresh(session),
    token: () => false,
  }
}

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

  /** Caller who has shown the console key of another controller of the site. @param shownNow within the last ten minutes */
  remoteKeyHolder(shownNow: boolean): Caller | undefined {
    if (!this.keyCounts) return undefined
    return shownNow ? keyHolder : { role: 'admin', way: 'key_session' }
  }

  /** Caller with both halves of a session. */
  ofSession(cookie: string, proof: PageProof): Caller | undefined {
    return this.#held(cookie, proof)?.caller
  }

  /** Issues a ticket for one path to the holder of a session. */
  ticket(cookie: string, proof: PageProof, path: string): string | undefined {
    const page = this.#held(cookie, proof)?.page
    return page === undefined ? undefined : ticketFor(page, path, Date.now())
  }

  /** Whether a caller has shown their password or key within the last ten minutes. */
  isFresh({ way, session = '' }: Pick<Caller, 'way' | 'session'>): boolean {
    return freshness(this.#sessions, this.#key)[way](session)
  }

  #held(cookie: string, proof: PageProof): { caller: Caller; page: string } | undefined {
    if (cookie === '') return undefined
    // The session of a key is signed and has dots; that of an account is random and has none.
    if (cookie.includes('.')) {
      const held = this.keyCounts ? this.#key.session(cookie) : undefined
      if (held === undefined || !provesPage(held.page, proof, Date.now())) return undefined
      return { caller: { role: 'admin', way: 'key_session', session: held.id }, page: held.page }
    }
    const live = this.#sessions.check(cookie, proof)
    if (live === undefined) return undefined
    const { id, name, role } = live.account
    return {
      caller: { role, way: 'password', account: name, accountId: id, session: live.id },
      page: live.page,
    }
  }

  /** Caller with this bearer token: the console key, or an access token. */
  ofBearer(bearer: string): Caller | undefined {
    const live = this.#tokens.check(bearer)
    if (live === undefined) return this.keyCounts && this.#key.matches(bearer) ? keyHolder : undefined
    const { account, role, label, id, scopes } = live
    return { role, way: 'token', account: account.name, accountId: account.id, token: label, tokenId: id, scopes }
  }
}

/** Collections whose changes may end sessions of the console. */
export const endsSessions: readonly CollectionName[] = ['accounts', 'account_sessions', 'settings']
