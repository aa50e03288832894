import { randomBytes } from 'node:crypto'
import type { AccessTokenView } from '../../../shared/console/accounts.ts'
import { refusal } from '../../../shared/refusals/refusal.ts'
import { RefusalError } from '../../../shared/domain/outcome.ts'
import { atLeast, lesserRole, type Role } from '../../../shared/domain/roles.ts'
import { scopesOfRole } from '../../../shared/console/procedure-facts.ts'
import { orderedScopes, type TokenScope } from '../../../shared/domain/token-scopes.ts'
import { isExpired, tokenKinds } from '../../../shared/tokens.ts'
import { tokenDigest } from '../../../shared/files/signed-tokens.ts'
import type { StoredAccessToken, StoredAccount } from '../../store/records.ts'
import { accountLocks, type AccountStore } from './accounts.ts'

/** Prefix of every token, by which secret scanners recognize leaked tokens. */
export const { purpose: tokenPrefix } = tokenKinds['access-token']
const dayMs = 24 * 60 * 60 * 1_000
/** Minimum interval between two stored uses of a token, in milliseconds. */
const saveEveryMs = 60_000

/** Valid token with its permissions. */
export interface LiveToken {
  id: string
  label: string
  account: StoredAccount
  /** Effective role: the lower of the account's role and the token's own limit. */
  role: Role
  scopes: readonly TokenScope[]
}

export interface TokenDraft {
  label: string
  scopes?: readonly TokenScope[] | undefined
  role?: Role | undefined
  days: number
}

/** Tokens with which scripts act for an account until a chosen expiry. */
export class AccessTokens {
  readonly #store: AccountStore
  readonly #now: () => number

  /** @param now milliseconds since the epoch */
  constructor(store: AccountStore, now: () => number = Date.now) {
    this.#store = store
    this.#now = now
  }

  /**
   * Creates a token. The returned text is not stored.
   * @param scopes default: the scopes useful to the role
   * @param role maximum role of the token; default: the account's current role
   * @throws RefusalError 'forbidden' if the token would exceed the account's role, 'conflict' if there are too many
   * tokens
   */
  async create(
    accountId: string,
    { label, role, scopes, days }: TokenDraft,
  ): Promise<{ access: AccessTokenView; token: string }> {
    const token = tokenPrefix + randomBytes(32).toString('base64url')
    const id = tokenDigest(token)
    const stored = await this.#store.transact(accountLocks, (transaction) => {
      const account = this.#store.get('accounts', accountId)
      if (account === undefined) throw new RefusalError(refusal('accountNotFound'))
      const given = role ?? account.role
      if (!atLeast(account.role, given)) throw new RefusalError(refusal('tokenRole', { role: account.role }))
      const useful = scopesOfRole(given)
      const beyond = scopes?.find((scope) => !useful.includes(scope))
      if (beyond !== undefined) throw new RefusalError(refusal('tokenScope', { scope: beyond, role: given }))
      const now = this.#now()
      const others = [...this.#store.all('access_tokens')].filter(([, { account: of }]) => of === accountId)
      // Expired tokens are deleted to make space.
      const ended = others.filter(([, other]) => isExpired('access-token', other, now))
      for (const [key] of ended) transaction.delete('access_tokens', key)
      const made: StoredAccessToken = {
        account: accountId,
        label,
        // Program versions without scopes reject a token without a role.
        ...(scopes === undefined || role !== undefined ? { role: given } : {}),
        scopes: scopes === undefined ? useful : orderedScopes(scopes),
        created_at: now,
        expires_at: now + days * dayMs,
      }
      transaction.put('access_tokens', id, made)
      return made
    })
    return { access: this.#view(id, stored), token }
  }

  /** Returns a valid token with its account, and records its use; undefined: the token is not valid. O(1). */
  check(token: string): LiveToken | undefined {
    if (!token.startsWith(tokenPrefix)) return undefined
    const id = tokenDigest(token)
    const stored = this.#store.get('access_tokens', id)
    const account = stored === undefined ? undefined : this.#store.get('accounts', stored.account)
    const now = this.#now()
    if (stored === undefined || account?.enabled !== true || isExpired('access-token', stored, now)) return undefined
    if (now - (this.#store.get('last_uses', id)?.at ?? 0) >= saveEveryMs)
      this.#store.writeBehind('last_uses', id, { at: now })
    return { id, label: stored.label, account, role: roleOf(stored, account), scopes: scopesOf(stored) }
  }

  /** Lists the tokens of an account, or of all accounts, the newest first, including expired ones. */
  list(accountId: string | undefined): AccessTokenView[] {
    return [...this.#store.all('access_tokens')]
      .filter(([, { account }]) => accountId === undefined || account === accountId)
      .map(([id, stored]) => this.#view(id, stored))
      .sort((a, b) => b.created_at - a.created_at)
  }

  /** Returns the number of valid tokens per account. */
  countByAccount(): ReadonlyMap<string, number> {
    const now = this.#now()
    const counts = new Map<string, number>()
    for (const stored of this.#store.all('access_tokens').values())
      if (!isExpired('access-token', stored, now)) counts.set(stored.account, (counts.get(stored.account) ?? 0) + 1)
    return counts
  }

  /** Revokes a token. @param accountId required owner; undefined: any @throws RefusalError 'notFound' */
  revoke(id: string, accountId?: string): Promise<void> {
    return this.#store.transact(accountLocks, (transaction) => {
      const stored = this.#store.get('access_tokens', id)
      if (stored === undefined || (accountId !== undefined && stored.account !== accountId))
        throw new RefusalError(refusal('tokenNotFound'))
      transaction.delete('access_tokens', id)
      transaction.delete('last_uses', id)
    })
  }

  #view(id: string, stored: StoredAccessToken): AccessTokenView {
    const { account: account_id, label, created_at, expires_at } = stored
    const account = this.#store.get('accounts', account_id)
    const last_used_at = this.#store.get('last_uses', id)?.at ?? 0
    const role = account === undefined ? 'viewer' : roleOf(stored, account)
    const view = { id, account_id, account: account?.name ?? '', label, role, scopes: [...scopesOf(stored)] }
    return { ...view, created_at, expires_at, last_used_at }
  }
}

/** Returns the effective role of a token: the lower of its own role, if set, and its account's current role. */
function roleOf({ role }: StoredAccessToken, account: StoredAccount): Role {
  return role === undefined ? account.role : lesserRole(role, account.role)
}

/** Returns the scopes of a token. A token stored by a version without scopes has the scopes of its role. */
function scopesOf({ scopes, role = 'viewer' }: StoredAccessToken): readonly TokenScope[] {
  return scopes ?? scopesOfRole(role)
}
