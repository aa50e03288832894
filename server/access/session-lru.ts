import type { DigestForm } from '../../shared/settings/network.ts'

/** A session in memory, a link in the list of its credential's sessions. */
export interface Session {
  /** SHA-256 of its token, base64url: its key in the store. */
  key: string
  form: DigestForm
  /** Milliseconds since the epoch. */
  createdAt: number
  usedAt: number
  /** The use that the store knows of. */
  savedAt: number
  owner: SessionLru
  /** Used less recently, and more recently. */
  before: Session | undefined
  after: Session | undefined
}

/**
 * Lists the sessions of one credential, the least recently used one first. Every step is O(1).
 * `lru-cache` does not fit: it finds by key what it moves, while a session here is its own link, so that the token check of a request
 * costs one look-up; and its capacity takes memory at once, for each of the site's credentials.
 */
export class SessionLru {
  readonly accessKey: string
  /** Answer of `Sessions.check` for each of them: made once. */
  readonly granted: { ok: true; accessKey: string }
  size = 0
  /** Milliseconds since the epoch; 0 is never. */
  lastUsedAt = 0
  /** Operations that change its credential now: until they are durable no session opens. */
  frozen = 0
  /** Keys of sessions that are being stored: they are none yet. */
  readonly opening = new Set<string>()
  #oldest: Session | undefined
  #newest: Session | undefined

  constructor(accessKey: string) {
    this.accessKey = accessKey
    this.granted = { ok: true, accessKey }
  }

  /** The one unused for longest. */
  get oldest(): Session | undefined {
    return this.#oldest
  }

  /** From the one unused for longest on. */
  *[Symbol.iterator](): Generator<Session> {
    for (let session = this.#oldest; session !== undefined; session = session.after) yield session
  }

  /** Adds one as the last used. */
  add(session: Session): void {
    this.#append(session)
    this.size++
  }

  remove(session: Session): void {
    this.#unlink(session)
    this.size--
  }

  /** Moves one to the end: it was used now. */
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
