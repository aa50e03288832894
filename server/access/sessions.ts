import type { KeyObject } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { growingTo } from '../../shared/growing-cache.ts'
import { limits } from '../../shared/limits.ts'
import { ApiError } from '../../shared/result-codes.ts'
import type { Settings } from '../../shared/settings.ts'
import type { DigestForm } from '../../shared/settings/network.ts'
import { isExpired } from '../../shared/tokens.ts'
import { tokenDigest } from '../../shared/files/signed-tokens.ts'
import type { StoredSession } from '../store/records.ts'
import type { Change, Store } from '../store/store.ts'
import { type SteadyClock, steadyClock } from './clock.ts'
import { canonicalBase64, digestText } from './digest.ts'
import { RandomPool } from './random-pool.ts'
import { type Session, SessionLru } from './session-lru.ts'

/** Result of checking a token. `reason` is only for the operator. */
export type SessionCheck = { ok: true; accessKey: string } | { ok: false; reason: string }

export interface SessionsOptions {
  store: Pick<Store, 'all' | 'writeBehind' | 'onChange' | 'transact'>
  /** Returns the settings. Called at each check, so that changed lifetimes take effect at once. */
  settings: () => Settings
  /** Maximum number of valid sessions per credential. */
  limit?: number
  now?: SteadyClock
}

/** Client for which a session is opened. The token has the same form as the client's digest. */
export interface Opener {
  accessKey: string
  form: DigestForm
  secret: KeyObject
}

/** Values from which the client computes its token. */
export interface OpenedSession {
  random: string
  key: string
}

/** Minimum interval between two stored uses of a session, in milliseconds. */
const saveEveryMs = 60_000
/** Interval between sweeps of expired sessions in milliseconds, and maximum number of sessions ended per step. */
const sweepEveryMs = 10_000
const sweepSlice = 500
/** Maximum number of ended sessions whose reason is kept for the operator. */
const rememberedEnds = 5_000

const missing: SessionCheck = { ok: false, reason: 'no access token was given' }
const unknown: SessionCheck = { ok: false, reason: 'there is no session with this token' }

/**
 * Valid sessions (contract, section 2). Only the SHA-256 of a token is kept. Memory holds sessions by key and, per
 * credential, in the order of their last use. A session is written to the store within a second, or before it becomes
 * valid (`openStored`).
 */
export class Sessions {
  readonly #store: SessionsOptions['store']
  readonly #settings: () => Settings
  readonly #limit: number
  readonly #now: SteadyClock
  readonly #random = new RandomPool()
  readonly #byKey = new Map<string, Session>()
  readonly #byCredential = new Map<string, SessionLru>()
  /** Reasons of ended sessions, by key. */
  readonly #ends = new LRUCache<string, string>(growingTo(rememberedEnds))
  readonly #unsubscribe: () => void
  readonly #timer: NodeJS.Timeout

  /** Loads the sessions from the store. */
  constructor({ store, settings, limit = limits.sessionsPerCredential, now = steadyClock() }: SessionsOptions) {
    this.#store = store
    this.#settings = settings
    this.#limit = limit
    this.#now = now
    const stored = [...store.all('sessions')].sort(([, a], [, b]) => a.used_at - b.used_at)
    for (const [key, session] of stored) this.#adopt(key, session)
    this.#unsubscribe = store.onChange((changes) => this.#follow(changes), ['sessions', 'credentials'])
    this.#timer = setInterval(() => this.sweep(), sweepEveryMs)
    this.#timer.unref()
  }

  /**
   * Opens a session for an authenticated credential. The session is valid at once, and stored within a second.
   * @throws ApiError 'authenticationTimeout' while the credential's sessions are being ended
   */
  open(opener: Opener): OpenedSession {
    const { owner, sessionKey, stored, ...opened } = this.#begin(opener)
    this.#store.writeBehind('sessions', sessionKey, stored)
    this.#keepWithinLimit(owner)
    return opened
  }

  /**
   * Opens a session like `open`, but resolves when the session is durable, because another controller may become
   * leader.
   * @param find returns the client; called when the store is writable, because the credential may have changed until
   * then
   * @throws ApiError 'authenticationTimeout' while the credential's sessions are being ended, 'storage'; errors of
   * `find`
   */
  async openStored<F extends Opener>(find: () => F): Promise<{ opened: OpenedSession; found: F }> {
    let begun: { owner: SessionLru; sessionKey: string } | undefined
    try {
      return await this.#store.transact([], (transaction) => {
        const found = find()
        const { owner, sessionKey, stored, ...opened } = this.#begin(found)
        begun = { owner, sessionKey }
        owner.opening.add(sessionKey)
        transaction.put('sessions', sessionKey, stored)
        return { opened, found }
      })
    } finally {
      if (begun !== undefined) {
        begun.owner.opening.delete(begun.sessionKey)
        this.#keepWithinLimit(begun.owner)
      }
    }
  }

  #begin({ accessKey, form, secret }: Opener): OpenedSession & {
    owner: SessionLru
    sessionKey: string
    stored: StoredSession
  } {
    const owner = this.#owner(accessKey)
    if (owner.frozen > 0) throw new ApiError('authenticationTimeout', { reason: 'the credential is being changed' })
    const random = this.#random.take()
    const key = this.#random.take()
    const now = Math.round(this.#now())
    const sessionKey = keyOf(digestText(form, secret, `${random}:${key}`))
    return { random, key, owner, sessionKey, stored: { access_key: accessKey, form, created_at: now, used_at: now } }
  }

  #keepWithinLimit(owner: SessionLru): void {
    while (owner.size > this.#limit && owner.oldest !== undefined) {
      this.#end(owner.oldest, `it was pushed out: the credential has more than ${this.#limit} sessions`)
    }
  }

  /** Checks a token in any spelling of base64. Extends the lifetime of a valid session. O(1). */
  check(token: string): SessionCheck {
    if (token === '') return missing
    const key = keyOf(token)
    const session = this.#byKey.get(key)
    if (session === undefined) {
      const end = this.#ends.peek(key)
      return end === undefined ? unknown : { ok: false, reason: `the session has ended: ${end}` }
    }
    const now = this.#now()
    const expiry = this.#expiry(session, now)
    if (expiry !== undefined) {
      this.#end(session, expiry)
      return { ok: false, reason: `the session has ended: ${expiry}` }
    }
    const { owner } = session
    session.usedAt = now
    owner.lastUsedAt = now
    owner.touch(session)
    if (now - session.savedAt >= saveEveryMs) {
      session.savedAt = now
      this.#save(key, owner.accessKey, session.form, session.createdAt, Math.round(now))
    }
    return owner.granted
  }

  /** Returns the access_key of a valid session without extending its lifetime; empty for all other tokens. O(1). */
  ownerOf(token: string): string {
    const session = this.#byKey.get(keyOf(token))
    return session === undefined || this.#expiry(session, this.#now()) !== undefined ? '' : session.owner.accessKey
  }

  /** Returns the number of valid sessions of a credential; may include expired sessions until the next sweep. O(1). */
  count(accessKey: string): number {
    return this.#byCredential.get(accessKey)?.size ?? 0
  }

  /** Number of valid sessions of all credentials; may include expired sessions until the next sweep. */
  get total(): number {
    return this.#byKey.size
  }

  /**
   * Returns the time of a credential's last use according to its sessions, in milliseconds since the epoch; 0: none.
   */
  lastUsedAt(accessKey: string): number {
    return Math.round(this.#byCredential.get(accessKey)?.lastUsedAt ?? 0)
  }

  /**
   * Returns the store keys of a credential's sessions, including sessions being stored, for a transaction that ends
   * them.
   */
  keys(accessKey: string): string[] {
    const owner = this.#byCredential.get(accessKey)
    return owner === undefined ? [] : [...[...owner].map(({ key }) => key), ...owner.opening]
  }

  /**
   * Runs a change of a credential that ends its sessions. Meanwhile no session can be opened. The existing sessions end
   * when the change is stored: its transaction deletes them.
   * @param reason reason for the end of the sessions, for the operator
   */
  async whileFrozen<T>(accessKey: string, reason: string, change: () => Promise<T>): Promise<T> {
    const owner = this.#owner(accessKey)
    owner.frozen++
    const keys = this.keys(accessKey)
    try {
      const result = await change()
      for (const key of keys) if (!this.#byKey.has(key)) this.#ends.set(key, reason)
      return result
    } finally {
      owner.frozen--
      if (owner.size === 0 && owner.frozen === 0 && owner.lastUsedAt === 0) this.#byCredential.delete(accessKey)
    }
  }

  /** Ends expired sessions, a limited number per event loop turn. Called regularly by a timer. */
  sweep(): void {
    const now = this.#now()
    let left = sweepSlice
    for (const owner of this.#byCredential.values()) {
      // The least recently used session comes first, so the first valid session ends the search.
      for (let session = owner.oldest; session !== undefined; session = owner.oldest) {
        const expiry = this.#expiry(session, now)
        if (expiry === undefined) break
        this.#end(session, expiry)
        if (--left === 0) {
          setImmediate(() => this.sweep()).unref()
          return
        }
      }
    }
  }

  /** Stops sweeping and following the store. */
  close(): void {
    clearInterval(this.#timer)
    this.#unsubscribe()
  }

  #expiry(session: Session, now: number): string | undefined {
    const { token_idle_ms: idleMs, token_life_ms: lifeMs } = this.#settings().access
    const { usedAt, createdAt } = session
    if (!isExpired('api-session', { usedAt, createdAt, idleMs, lifeMs }, now)) return undefined
    return now - usedAt > idleMs
      ? `it was not used for ${Math.round(idleMs / 1000)} s`
      : `it is older than ${Math.round(lifeMs / 1000)} s`
  }

  #owner(accessKey: string): SessionLru {
    let owner = this.#byCredential.get(accessKey)
    if (owner === undefined) {
      owner = new SessionLru(accessKey)
      this.#byCredential.set(accessKey, owner)
    }
    return owner
  }

  #add(session: Session): void {
    this.#byKey.set(session.key, session)
    session.owner.add(session)
    session.owner.lastUsedAt = Math.max(session.owner.lastUsedAt, session.usedAt)
  }

  #forget(session: Session): void {
    this.#byKey.delete(session.key)
    session.owner.remove(session)
  }

  #end(session: Session, reason: string): void {
    this.#forget(session)
    this.#ends.set(session.key, reason)
    this.#store.writeBehind('sessions', session.key, undefined)
  }

  #save(key: string, accessKey: string, form: DigestForm, createdAt: number, usedAt: number): void {
    this.#store.writeBehind('sessions', key, {
      access_key: accessKey,
      form,
      created_at: Math.round(createdAt),
      used_at: Math.round(usedAt),
    })
  }

  /**
   * Adds a stored session. Future times are replaced by the present: setting the clock back must not extend a session.
   */
  #adopt(key: string, stored: StoredSession): void {
    const now = this.#now()
    const usedAt = Math.min(stored.used_at, now)
    const createdAt = Math.min(stored.created_at, now)
    const owner = this.#owner(stored.access_key)
    this.#add({
      key,
      form: stored.form,
      createdAt,
      usedAt,
      savedAt: usedAt,
      owner,
      before: undefined,
      after: undefined,
    })
  }

  /** Applies changes that other code made in the store: transactions that end sessions, and restored backups. */
  #follow(changes: readonly Change[]): void {
    for (const change of changes) {
      if (change.collection === 'sessions') {
        const known = this.#byKey.get(change.key)
        if (change.value === undefined) {
          if (known !== undefined) this.#forget(known)
        } else if (known === undefined) this.#adopt(change.key, change.value)
      } else if (change.collection === 'credentials' && change.value === undefined) {
        const owner = this.#byCredential.get(change.key)
        if (owner?.size === 0 && owner.frozen === 0) this.#byCredential.delete(change.key)
      }
    }
  }
}

/** Returns the key of a token; the token itself is not stored. */
function keyOf(token: string): string {
  return tokenDigest(canonicalBase64(token))
}
