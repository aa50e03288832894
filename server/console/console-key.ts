import { createHmac, randomBytes } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { hasCode } from '../../shared/error-code.ts'
import { issueToken, readToken, tokenDigest, type VerifiedToken } from '../../shared/files/signed-tokens.ts'
import { isExpired, isSecretFresh, tokenKinds } from '../../shared/tokens.ts'
import { sameSecret } from '../edge/same-secret.ts'
import { renameFileSync } from '../store/system/rename-file.ts'

const { ms: sessionMs } = tokenKinds['key-session'].lifetime
/** Form of a key: at least 128 bits even in hexadecimal, and only characters that are valid in a header. */
const wellFormed = /^[\x21-\x7e]{32,200}$/
/** Maximum size of a key file, in bytes. */
const maxFile = 1_024
const whatItMustHold = 'it must hold one line of 32 to 200 visible ASCII characters without spaces'

/** Browser session created with the console key. */
export interface KeySession {
  /** Digest of the cookie, which does not reveal the cookie itself. */
  id: string
  /** Digest of the page's half of the session secret. */
  page: string
}

/**
 * The console key: the single line of `<data folder>/console.key` (mode 0600). Replacing the file replaces the key at
 * once, unless the file contains no valid key. A browser session is a cookie signed with the key. The session survives
 * a restart, and ends at sign-out or when the key is replaced.
 */
export class ConsoleKey {
  readonly file: string
  readonly #warn: (message: string) => void
  readonly #ended: EndedKeySessions
  readonly #now: () => number
  /** Time at which the key was last presented, by session. These times are lost at a restart. */
  readonly #shownAt = new Map<string, number>()
  #key = ''
  #mtime = -1

  /**
   * @param warn called with the problem of the file and its solution, once per state of the file
   * @param now returns milliseconds since the epoch
   */
  constructor(folder: string, warn: (message: string) => void, now: () => number = Date.now) {
    this.file = join(folder, 'console.key')
    this.#warn = warn
    this.#now = now
    this.#ended = new EndedKeySessions(folder, () => now() + sessionMs, warn)
    this.#read()
    if (this.#key === '') this.#begin()
  }

  /** The key itself, for the line printed on a terminal at the first start. */
  get value(): string {
    this.#read()
    return this.#key
  }

  /** Generates a new key, which ends all sessions. */
  replace(): string {
    const key = randomBytes(32).toString('base64url')
    const temporary = `${this.file}.new`
    writeFileSync(temporary, `${key}\n`, { mode: 0o600 })
    chmodSync(temporary, 0o600)
    renameFileSync(temporary, this.file)
    this.#mtime = -1
    this.#read()
    return key
  }

  /** Compares `candidate` with the key in constant time. */
  matches(candidate: string): boolean {
    this.#read()
    return this.#key !== '' && sameSecret(this.#key, candidate)
  }

  /** Creates a session, valid for 7 days. The caller must just have presented the key. */
  openSession(): { cookie: string; half: string; maxAge: number } {
    const claims = { expiresAt: this.#now() + sessionMs, nonce: randomBytes(12).toString('base64url') }
    const cookie = issueToken('key-session', this.#key, claims)
    this.confirm(tokenDigest(cookie))
    return { cookie, half: this.#halfOf(cookie), maxAge: sessionMs / 1000 }
  }

  /** Returns the session of a cookie; undefined if it is invalid, has ended, or belongs to another key. */
  session(cookie: string): KeySession | undefined {
    return this.#claimsOf(cookie) && { id: tokenDigest(cookie), page: tokenDigest(this.#halfOf(cookie)) }
  }

  /** Ends a session for every holder of its cookie. */
  endSession(cookie: string): void {
    const claims = this.#claimsOf(cookie)
    if (claims !== undefined) this.#ended.add(cookie, claims.expiresAt, this.#now())
  }

  #claimsOf(cookie: string): VerifiedToken<'key-session'> | undefined {
    this.#read()
    const claims = readToken('key-session', this.#key, cookie, this.#now())
    return claims === undefined || this.#ended.has(cookie, claims.expiresAt) ? undefined : claims
  }

  /** Records that the holder of a session presented the key now. */
  confirm(id: string): void {
    for (const known of this.#shownAt.keys()) if (!this.isFresh(known)) this.#shownAt.delete(known)
    this.#shownAt.set(id, this.#now())
  }

  /** Whether the holder of a session presented the key within the last ten minutes. */
  isFresh(id: string): boolean {
    return isSecretFresh(this.#shownAt.get(id) ?? Number.NEGATIVE_INFINITY, this.#now())
  }

  /**
   * Creates the key at the first start, or if the file contains no valid key. Renames an invalid file to
   * `console.key.refused`.
   */
  #begin(): void {
    const aside = `${this.file}.refused`
    if (existsSync(this.file)) {
      renameFileSync(this.file, aside)
      this.#warn(
        `${this.file} contains no console key: ${whatItMustHold}. It was set aside as ${aside} and a new key was created: read it in console.key, or write your own there.`,
      )
    }
    this.replace()
  }

  #halfOf(cookie: string): string {
    return createHmac('sha256', this.#key).update(`console page ${cookie}`).digest('base64url')
  }

  /** Reads the file if it has changed. */
  #read(): void {
    let mtime: number
    let text: string
    try {
      const found = statSync(this.file)
      mtime = found.mtimeMs
      if (mtime === this.#mtime) return
      text = found.size > maxFile ? '' : readFileSync(this.file, 'utf8').trim()
    } catch {
      // The file was deleted: the key in memory stays valid until the next start.
      return
    }
    this.#mtime = mtime
    if (wellFormed.test(text)) this.#key = text
    else if (this.#key !== '') {
      this.#warn(
        `${this.file} was changed and holds no console key: ${whatItMustHold}. The key before stays good until such a line is written, or until the next start, which makes a new key.`,
      )
    }
  }
}

/** Maximum number of ended sessions stored separately. If the limit is exceeded, all existing sessions end. */
const maxEnded = 1_000

const fileSchema = z.object({
  /** Time in milliseconds since the epoch; all sessions that expire until then have ended. */
  all_until: z.number().default(0),
  /** Hash of each ended session, with its regular expiry. */
  ended: z.array(z.tuple([z.string(), z.number()])).max(maxEnded),
})

/**
 * Sessions of the console key ended by signing out, in `<data folder>/console.ended`. Without this file, the signed
 * cookie of a session would stay valid.
 */
class EndedKeySessions {
  readonly #file: string
  readonly #latestEnd: () => number
  readonly #warn: (message: string) => void
  readonly #ended = new Map<string, number>()
  #allUntil = 0

  /**
   * @param latestEnd returns the expiry of a session created now, in milliseconds since the epoch
   * @param warn called if the file cannot be read or written
   */
  constructor(folder: string, latestEnd: () => number, warn: (message: string) => void) {
    this.#latestEnd = latestEnd
    this.#file = join(folder, 'console.ended')
    this.#warn = warn
    this.#read()
  }

  has(session: string, endsAt: number): boolean {
    return endsAt <= this.#allUntil || this.#ended.has(tokenDigest(session))
  }

  /** Ends a session. @param endsAt its regular expiry, in milliseconds since the epoch */
  add(session: string, endsAt: number, now: number): void {
    for (const [key, expiresAt] of this.#ended)
      if (isExpired('key-session', { expiresAt }, now)) this.#ended.delete(key)
    if (this.#ended.size >= maxEnded) {
      this.#allUntil = Math.max(endsAt, ...this.#ended.values())
      this.#ended.clear()
    } else this.#ended.set(tokenDigest(session), endsAt)
    this.#write()
  }

  #read(): void {
    try {
      const { all_until, ended } = fileSchema.parse(JSON.parse(readFileSync(this.#file, 'utf8')))
      this.#allUntil = all_until
      for (const [key, end] of ended) this.#ended.set(key, end)
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return
      // Without the file, ended sessions could become valid again, so all existing sessions end.
      this.#allUntil = this.#latestEnd()
      this.#warn(`${this.#file} cannot be read: whoever signed in with the console key must sign in again.`)
      this.#write()
    }
  }

  #write(): void {
    const temporary = `${this.#file}.new`
    try {
      const text = JSON.stringify({ all_until: this.#allUntil, ended: [...this.#ended] })
      writeFileSync(temporary, `${text}\n`, { mode: 0o600 })
      chmodSync(temporary, 0o600)
      renameFileSync(temporary, this.#file)
    } catch {
      // The message states the consequence, which matters more to the operator than the cause.
      this.#warn(`${this.#file} cannot be written: the session that was ended lives again after a restart.`)
    }
  }
}
