import type { Role } from '../../shared/domain/roles.ts'
import type { TokenScope } from '../../shared/domain/token-scopes.ts'
import { type AccountStore, hasEnabledAdmin } from '../access/accounts/accounts.ts'
import type { AccessTokens } from '../access/accounts/access-tokens.ts'
import { type AccountSessions, type PageProof, provesPage, ticketFor } from '../access/accounts/account-sessions.ts'
import { siteSettings } from '../store/site-settings.ts'
import type { ConsoleKey } from './console-key.ts'
import type { CollectionName } from '../store/store.ts'

/**
 * Kind of authentication. `key`: with the console key in this call; `key_session`: with a browser session created with
 * the key; `password`: with a session of an account; `token`: with an access token. Each kind has a rule in
 * `freshness`.
 */
type WayIn = 'key' | 'key_session' | 'password' | 'token'

export interface ConsoleCaller {
  role: Role
  way: WayIn
  /** Name of the account; undefined for the console key. */
  account?: string
  accountId?: string
  session?: string
  /** Label of the access token. */
  token?: string
  tokenId?: string
  /** Scopes of the access token; undefined for all other callers. */
  scopes?: readonly TokenScope[]
  /**
   * Returns headers with which the leader can authenticate the caller itself; undefined for the desktop's window and
   * for calls that another controller forwarded.
   */
  forLeader?: () => Record<string, string>
}

const keyHolder: ConsoleCaller = { role: 'admin', way: 'key' }

/**
 * Rules by kind of authentication: whether the holder of a session presented a secret within the last ten minutes.
 * Every kind is required, so that a missing rule does not compile.
 */
export type Freshness = Readonly<Record<WayIn, (session: string) => boolean>>

/**
 * Returns the rules for fresh authentication.
 * @param key undefined on the desktop, which has no console port
 */
export function freshness(
  sessions: Pick<AccountSessions, 'isFresh'>,
  key: Pick<ConsoleKey, 'isFresh'> | undefined,
): Freshness {
  return {
    // The key was presented in this call.
    key: () => true,
    key_session: (session) => key?.isFresh(session) === true,
    password: (session) => sessions.isFresh(session),
    token: () => false,
  }
}

/** Identifies callers: the holder of the console key, or an account by its session or a token. */
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

  /**
   * Whether the console key is accepted. Without an enabled admin, the key is always accepted, so that the site can be
   * repaired after a backup or a site file was restored.
   */
  get keyCounts(): boolean {
    return siteSettings(this.#store).console.key_sign_in || !hasEnabledAdmin(this.#store.all('accounts').values())
  }

  /** Whether any account can sign in. */
  get passwordCounts(): boolean {
    for (const { enabled } of this.#store.all('accounts').values()) if (enabled) return true
    return false
  }

  /**
   * Returns a caller who presented the console key of another controller of the site.
   * @param shownNow whether the key was presented within the last ten minutes
   */
  remoteKeyHolder(shownNow: boolean): ConsoleCaller | undefined {
    if (!this.keyCounts) return undefined
    return shownNow ? keyHolder : { role: 'admin', way: 'key_session' }
  }

  /** Returns the caller of a session, by its cookie and the page's half of the session secret; undefined if invalid. */
  ofSession(cookie: string, proof: PageProof): ConsoleCaller | undefined {
    return this.#held(cookie, proof)?.caller
  }

  /** Issues a ticket for one path to the holder of a session. */
  ticket(cookie: string, proof: PageProof, path: string): string | undefined {
    const page = this.#held(cookie, proof)?.page
    return page === undefined ? undefined : ticketFor(page, path, Date.now())
  }

  /** Whether a caller presented their password or key within the last ten minutes. */
  isFresh({ way, session = '' }: Pick<ConsoleCaller, 'way' | 'session'>): boolean {
    return freshness(this.#sessions, this.#key)[way](session)
  }

  #held(cookie: string, proof: PageProof): { caller: ConsoleCaller; page: string } | undefined {
    if (cookie === '') return undefined
    // The cookie of a key session is signed and contains dots. The cookie of an account session is random, without
    // dots.
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

  /** Returns the caller with this bearer token: the console key, or an access token. */
  ofBearer(bearer: string): ConsoleCaller | undefined {
    const live = this.#tokens.check(bearer)
    if (live === undefined) return this.keyCounts && this.#key.matches(bearer) ? keyHolder : undefined
    const { account, role, label, id, scopes } = live
    return { role, way: 'token', account: account.name, accountId: account.id, token: label, tokenId: id, scopes }
  }
}

/** Collections whose changes may end sessions of the console. */
export const endsSessions: readonly CollectionName[] = ['accounts', 'account_sessions', 'settings']
