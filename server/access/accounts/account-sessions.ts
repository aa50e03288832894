import { randomBytes } from 'node:crypto'
import type { AccountSessionView } from '../../../shared/console/accounts.ts'
import { RefusalError } from '../../../shared/domain/outcome.ts'
import { issueToken, readToken, tokenDigest } from '../../../shared/files/signed-tokens.ts'
import { limits } from '../../../shared/limits.ts'
import { refusal } from '../../../shared/refusals/refusal.ts'
import { expiryOf, isExpired, isSecretFresh, secretFreshMs, tokenKinds } from '../../../shared/tokens.ts'
import { sameSecret } from '../../edge/same-secret.ts'
import type { StoredAccount, StoredAccountSession } from '../../store/records.ts'
import { accountLocks, type AccountStore, endTokens } from './accounts.ts'

/** Minimum interval between two stored uses of a session, in milliseconds. */
const saveEveryMs = 60_000
/** Maximum length of a stored browser name, in characters. */
const maxBrowser = 200

/** Valid session with its account. */
export interface LiveSession {
  id: string
  account: StoredAccount
  /** Digest of the page's half of the session secret. */
  page: string
}

/**
 * Browsers signed in with an account. A session is valid while its account is enabled and has the same stamp as at the
 * session's start, so a new stamp ends all sessions. The id of a session does not reveal its cookie.
 */
export class AccountSessions {
  readonly #store: AccountStore
  readonly #now: () => number

  /** @param now milliseconds since the epoch */
  constructor(store: AccountStore, now: () => number = Date.now) {
    this.#store = store
    this.#now = now
  }

  /**
   * Starts a session for an authenticated user. Only digests of the cookie and of the page's half of the session secret
   * are stored.
   */
  open(account: StoredAccount, from: { address: string; browser: string }): { cookie: string; half: string } {
    const cookie = randomBytes(32).toString('base64url')
    const half = newPageHalf()
    const now = this.#now()
    this.#sweep()
    const mine = this.#of(account.id)
    for (const [key] of mine.slice(0, Math.max(0, mine.length - limits.sessionsPerAccount + 1))) this.#forget(key)
    this.#store.writeBehind('account_sessions', tokenDigest(cookie), {
      account: account.id,
      stamp: account.stamp,
      address: from.address,
      browser: from.browser.replace(/[\p{Cc}\p{Cf}]/gu, '').slice(0, maxBrowser),
      page: tokenDigest(half),
      created_at: now,
      used_at: now,
    })
    this.#store.writeBehind('last_uses', account.id, { at: now })
    return { cookie, half }
  }

  /** Returns the valid session of a cookie if the request also proves the page's half of the session secret. O(1). */
  check(cookie: string, proof: PageProof): LiveSession | undefined {
    const id = tokenDigest(cookie)
    const session = this.#store.get('account_sessions', id)
    if (session === undefined || !provesPage(session.page ?? '', proof, this.#now())) return undefined
    const account = this.#liveAccount(session)
    if (account === undefined) return undefined
    const now = this.#now()
    if (now - session.used_at >= saveEveryMs)
      this.#store.writeBehind('account_sessions', id, { ...session, used_at: now })
    return { id, account, page: session.page ?? '' }
  }

  /** Whether the password of a session was entered within the last ten minutes; signing in counts. */
  isFresh(id: string): boolean {
    const session = this.#store.get('account_sessions', id)
    if (session === undefined || this.#liveAccount(session) === undefined) return false
    return isSecretFresh(session.password_at ?? session.created_at, this.#now())
  }

  /**
   * Records that the password of a session was entered now.
   * @returns the time until which the entry counts, in milliseconds since the epoch; undefined: the session has ended
   */
  confirm(id: string): number | undefined {
    const session = this.#store.get('account_sessions', id)
    if (session === undefined || this.#liveAccount(session) === undefined) return undefined
    const now = this.#now()
    this.#store.writeBehind('account_sessions', id, { ...session, used_at: now, password_at: now })
    return now + secretFreshMs
  }

  /**
   * Lists the valid sessions, the most recently used first.
   * @param accountId undefined: all accounts
   * @param current id of the caller's session
   */
  list(accountId: string | undefined, current: string): AccountSessionView[] {
    const views: AccountSessionView[] = []
    for (const [id, session] of this.#store.all('account_sessions')) {
      const account = this.#liveAccount(session)
      if (account === undefined || (accountId !== undefined && account.id !== accountId)) continue
      const { address, browser, created_at, used_at } = session
      const expires_at = expiryOf('account-session', session)
      const { id: account_id, name } = account
      views.push({
        id,
        account_id,
        account: name,
        address,
        browser,
        created_at,
        used_at,
        expires_at,
        current: id === current,
      })
    }
    return views.sort((a, b) => b.used_at - a.used_at)
  }

  /** Returns the number of valid sessions per account. */
  countByAccount(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>()
    for (const session of this.#store.all('account_sessions').values()) {
      const id = this.#liveAccount(session)?.id
      if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1)
    }
    return counts
  }

  /**
   * Ends a session, durably.
   * @param accountId required owner; undefined: any
   * @throws RefusalError 'notFound', ApiError 'storage'
   */
  end(id: string, accountId?: string): Promise<void> {
    return this.#store.transact(['account_sessions'], (transaction) => {
      const session = this.#store.get('account_sessions', id)
      if (session === undefined || (accountId !== undefined && session.account !== accountId))
        throw new RefusalError(refusal('sessionNotFound'))
      transaction.delete('account_sessions', id)
    })
  }

  /**
   * Ends all sessions of an account except one, durably, and returns how many were valid.
   * @param but id of the session that stays; empty: none
   * @param tokens whether the account's access tokens end, too
   * @throws ApiError 'storage'
   */
  endAll(accountId: string, but = '', tokens = false): Promise<number> {
    return this.#store.transact(['account_sessions', ...accountLocks], (transaction) => {
      const ended = this.list(accountId, but).filter(({ current }) => !current)
      for (const { id } of ended) transaction.delete('account_sessions', id)
      if (tokens) endTokens(this.#store, transaction, accountId)
      return ended.length
    })
  }

  /** Deletes sessions that are no longer valid. */
  #sweep(): void {
    for (const [id, session] of [...this.#store.all('account_sessions')])
      if (this.#liveAccount(session) === undefined) this.#forget(id)
  }

  #liveAccount(session: StoredAccountSession): StoredAccount | undefined {
    const account = this.#store.get('accounts', session.account)
    if (account?.enabled !== true || account.stamp !== session.stamp) return undefined
    return isExpired('account-session', session, this.#now()) ? undefined : account
  }

  /** Returns the sessions of an account, the least recently used first. */
  #of(accountId: string): [string, StoredAccountSession][] {
    return [...this.#store.all('account_sessions')]
      .filter(([, { account }]) => account === accountId)
      .sort(([, a], [, b]) => a.used_at - b.used_at)
  }

  #forget(id: string): void {
    this.#store.writeBehind('account_sessions', id, undefined)
  }
}

/**
 * Proof of a request in addition to the cookie: the page's half of the session secret, or a ticket for the requested
 * path. A ticket is issued with the digest of the page's half.
 */
export type PageProof = { half: string } | { ticket: string; path: string }

/** Generates the page's half of a session secret. */
function newPageHalf(): string {
  return randomBytes(32).toString('base64url')
}

/**
 * Whether a request proves the page's half of a session secret.
 * @param digest stored digest of the page's half; empty: a session of an earlier version, which is rejected
 */
export function provesPage(digest: string, proof: PageProof, now: number): boolean {
  if (digest === '') return false
  if ('half' in proof) return sameSecret(digest, tokenDigest(proof.half))
  return readToken('download-ticket', digest, proof.ticket, now, proof.path) !== undefined
}

/** Issues a ticket for one path. The ticket is valid only together with the cookie of the same session. */
export function ticketFor(digest: string, path: string, now: number): string {
  return issueToken('download-ticket', digest, { expiresAt: now + tokenKinds['download-ticket'].lifetime.ms }, path)
}
