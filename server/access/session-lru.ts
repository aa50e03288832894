import type { DigestForm } from '../../shared/settings/network.ts'

/** Session in memory, as a linked list node among its credential's sessions. */
export interface Session {
  /** Key of the session in the store: SHA-256 of the token, base64url. */
  key: string
  form: DigestForm
  /** Milliseconds since the epoch. */
  createdAt: number
  usedAt: number
  /** Time of the last use that was written to the store, in milliseconds since the epoch. */
  savedAt: number
  owner: SessionLru
  /** Neighbors in the list: used less recently, and more recently. */
  before: Session | undefined
  after: Session | undefined
}

/**
 * Sessions of one credential, the least recently used first. Every step is O(1).
 * `lru-cache` is not suitable. It finds the entry to move by key, while a session here is its own list node, so that
 * checking a token needs one lookup. It also allocates memory for its whole capacity at once, for each credential.
 */
export class SessionLru {
  readonly accessKey: string
  /** Result of `Sessions.check`, created once and shared by all sessions of the credential. */
  readonly granted: { ok: true; accessKey: string }
  size = 0
  /** Time of the last use, in milliseconds since the epoch; 0: never. */
  lastUsedAt = 0
  /** Number of running operations that change the credential: until they are durable, no session can be opened. */
  frozen = 0
  /** Keys of sessions being stored, which are not valid yet. */
  readonly opening = new Set<string>()
  #oldest: Session | undefined
  #newest: Session | undefined

  constructor(accessKey: string) {
    this.accessKey = accessKey
    this.granted = { ok: true, accessKey }
  }

  /** The least recently used session. */
  get oldest(): Session | undefined {
    return this.#oldest
  }

  /** Yields the sessions, the least recently used first. */
  *[Symbol.iterator](): Generator<Session> {
    for (let session = this.#oldest; session !== undefined; session = session.after) yield session
  }

  /** Adds a session as the most recently used. */
  add(session: Session): void {
    this.#append(session)
    this.size++
  }

  remove(session: Session): void {
    this.#unlink(session)
    this.size--
  }

  /** Marks a session as the most recently used. */
  touch(session: Session): void {
    if (session === this.#newest) return
    this.#unlink(session)
    this.#append(session)
  }

  #append(session: Session): void {
    session.before = this.#newest
    session.after = undefined
    if (this.#newest === undefined) this.#oldest = session
    else this.#newest.after = session
    this.#newest = session
  }

  #unlink(session: Session): void {
    if (session.before === undefined) this.#oldest = session.after
    else session.before.after = session.after
    if (session.after === undefined) this.#newest = session.before
    else session.after.before = session.before
  }
}
