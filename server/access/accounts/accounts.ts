import { randomBytes } from 'node:crypto'
import { passwordLength, type PasswordProblem, passwordProblem } from '../../../shared/console/password-rules.ts'
import { RefusalError } from '../../../shared/domain/outcome.ts'
import type { Role } from '../../../shared/domain/roles.ts'
import { type Refusal, refusal } from '../../../shared/refusals/refusal.ts'
import { afterRevocation } from '../../store/capability-rules.ts'
import type { StoredAccount } from '../../store/records.ts'
import { sealedPlaceOf } from '../../store/sealed-places.ts'
import { siteSettings } from '../../store/site-settings.ts'
import type { Store, Transaction } from '../../store/store.ts'
import { wallClock } from '../../store/system/time.ts'
import { defaultCost, type HashCost, hashPassword, HashQueue, isPasswordOf } from './password-hash.ts'

/** Methods of the store that accounts use. */
export type AccountStore = Pick<Store, 'get' | 'all' | 'transact' | 'writeBehind' | 'seal' | 'unseal'>

/** Fields of an account that an admin may change. */
export interface AccountPatch {
  name?: string | undefined
  role?: Role | undefined
  enabled?: boolean | undefined
}

/** Access to an account that stays valid after a change of the password. */
export interface KeptAccess {
  /** Id of a session. */
  session?: string | undefined
  tokens?: boolean
}

/** Locks of every change of accounts, and of the setting that depends on an admin account. */
export const accountLocks = ['accounts', 'settings'] as const

/** Names that the event log uses for callers without an account. */
const reservedNames: ReadonlySet<string> = new Set(['console key', 'desktop'])

const problems: Readonly<Record<PasswordProblem, Refusal>> = {
  short: refusal('passwordShort', { limit: passwordLength.least }),
  long: refusal('passwordLong', { limit: passwordLength.most }),
  name: refusal('passwordIsName'),
  common: refusal('passwordCommon'),
}

/** Whether an admin account is enabled, so that the site can be administered without the console key. */
export function hasEnabledAdmin(accounts: Iterable<StoredAccount>): boolean {
  for (const { role, enabled } of accounts) if (role === 'admin' && enabled) return true
  return false
}

/** Checks that the console key may be switched off. @throws RefusalError 'conflict' if no admin account is enabled */
export function refuseLockOut(accounts: Iterable<StoredAccount>): void {
  if (hasEnabledAdmin(accounts)) return
  throw new RefusalError(refusal('keyStaysOn'), { fields: ['console.key_sign_in'] })
}

/**
 * Accounts of the console, in addition to the console key. Every change is durable when its promise resolves; every
 * method rejects with ApiError 'storage' if the store fails.
 */
export class Accounts {
  readonly #store: AccountStore
  readonly #now: () => number
  readonly #cost: HashCost
  readonly #hashes = new HashQueue()
  /** Hash checked for unknown names, so that the check takes as long as for known names. */
  #nobody: Promise<string> | undefined

  /** @param now milliseconds since the epoch */
  constructor(store: AccountStore, now: () => number = Date.now, cost: HashCost = defaultCost) {
    this.#store = store
    this.#now = now
    this.#cost = cost
  }

  /** Lists the accounts, in order of creation. */
  list(): StoredAccount[] {
    return [...this.#store.all('accounts').values()]
  }

  /** @throws RefusalError 'notFound' */
  get(id: string): StoredAccount {
    const account = this.#store.get('accounts', id)
    if (account === undefined) throw new RefusalError(refusal('accountNotFound'))
    return account
  }

  /** Returns the account with a name, ignoring case. */
  named(name: string): StoredAccount | undefined {
    const wanted = folded(name)
    return this.list().find((account) => folded(account.name) === wanted)
  }

  /**
   * Checks the password of an account. The duration does not reveal whether the account exists.
   * @throws TooManyWaitingError
   */
  async isPassword(account: StoredAccount | undefined, password: string): Promise<boolean> {
    return await this.#hashes.run(async () => {
      this.#nobody ??= hashPassword(randomBytes(32).toString('base64url'), this.#cost)
      const phc =
        account === undefined
          ? await this.#nobody
          : this.#store.unseal(account.password_sealed, sealedPlaceOf('accounts', account.id))
      return (await isPasswordOf(phc, password)) && account !== undefined
    })
  }

  /**
   * @throws RefusalError 'invalid' for the password, 'conflict' if the name is in use or there are too many accounts
   */
  async create(name: string, role: Role, password: string): Promise<StoredAccount> {
    const id = randomBytes(9).toString('base64url')
    const password_sealed = await this.#sealed(id, password, name, 'password')
    return await this.#store.transact(accountLocks, (transaction) => {
      this.#refuseTaken(name, '')
      const now = this.#now()
      const account: StoredAccount = {
        id,
        name,
        role,
        enabled: true,
        password_sealed,
        stamp: newStamp(),
        created_at: now,
        password_changed_at: now,
      }
      transaction.put('accounts', account.id, account)
      return account
    })
  }

  /**
   * Changes an account. A new role ends the account's sessions. Disabling the account also ends its access tokens.
   * @throws RefusalError 'notFound', 'conflict' if the name is in use, or if neither an enabled admin nor
   * the console key could sign in afterwards
   */
  update(id: string, patch: AccountPatch): Promise<StoredAccount> {
    return this.#store.transact(accountLocks, (transaction) => {
      const old = this.get(id)
      const { name = old.name, role = old.role, enabled = old.enabled } = patch
      if (name !== old.name) this.#refuseTaken(name, id)
      if (name === old.name && role === old.role && enabled === old.enabled) return old
      const ends = role !== old.role || (old.enabled && !enabled)
      const account = { ...old, name, role, enabled, stamp: ends ? newStamp() : old.stamp }
      if (old.enabled && !enabled) endTokens(this.#store, transaction, id)
      return this.#put(transaction, account)
    })
  }

  /**
   * Sets a new password. Ends the account's sessions and access tokens, except those in `keep`.
   * @param field name of the password's field, for the error
   * @throws RefusalError 'notFound', 'invalid' for the password
   */
  async setPassword(id: string, password: string, field: string, keep: KeptAccess = {}): Promise<void> {
    const password_sealed = await this.#sealed(id, password, this.get(id).name, field)
    await this.#store.transact(accountLocks, (transaction) => {
      const account = { ...this.get(id), password_sealed, stamp: newStamp(), password_changed_at: this.#now() }
      transaction.put('accounts', id, account)
      if (keep.tokens !== true) endTokens(this.#store, transaction, id)
      const { session } = keep
      const kept = session === undefined ? undefined : this.#store.get('account_sessions', session)
      if (session !== undefined && kept?.account === id)
        transaction.put('account_sessions', session, { ...kept, stamp: account.stamp })
    })
  }

  /**
   * Deletes an account with its sessions and tokens.
   * @throws RefusalError 'notFound', 'conflict' if neither an enabled admin nor the console key could sign
   * in afterwards
   */
  delete(id: string): Promise<void> {
    return this.#store.transact(accountLocks, (transaction) => {
      this.get(id)
      this.#refuseLockOut(this.list().filter((account) => account.id !== id))
      transaction.delete('accounts', id)
      transaction.delete('last_uses', id)
      for (const [key, { account }] of this.#store.all('account_sessions'))
        if (account === id) transaction.delete('account_sessions', key)
      endTokens(this.#store, transaction, id)
    })
  }

  #put(transaction: Transaction, account: StoredAccount): StoredAccount {
    this.#refuseLockOut(this.list().map((other) => (other.id === account.id ? account : other)))
    transaction.put('accounts', account.id, account)
    return account
  }

  #refuseLockOut(after: Iterable<StoredAccount>): void {
    if (siteSettings(this.#store).console.key_sign_in || hasEnabledAdmin(after)) return
    throw new RefusalError(refusal('lastAdmin'))
  }

  #refuseTaken(name: string, id: string): void {
    const other = this.named(name)
    const reserved = reservedNames.has(folded(name))
    if (!reserved && (other === undefined || other.id === id)) return
    throw new RefusalError(refusal(reserved ? 'accountReserved' : 'accountExists'), { fields: ['name'] })
  }

  async #sealed(id: string, password: string, name: string, field: string): Promise<string> {
    const problem = passwordProblem(password, name)
    if (problem !== undefined) throw new RefusalError(problems[problem], { fields: [field] })
    const hash = await this.#hashes.run(() => hashPassword(password, this.#cost))
    return this.#store.seal(hash, sealedPlaceOf('accounts', id))
  }
}

/** Returns a name in a form for comparison: names that differ only in case or Unicode encoding are equal. */
export function folded(name: string): string {
  return name.normalize('NFKC').trim().toLowerCase()
}

function newStamp(): string {
  return randomBytes(9).toString('base64url')
}

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
