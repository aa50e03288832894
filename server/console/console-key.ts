import { createHmac, hash, randomBytes } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { passwordFreshMs } from '../access/accounts/account-sessions.ts'
import { digestOfHalf } from '../access/accounts/page-half.ts'
import { sameSecret } from '../edge/same-secret.ts'
import { renameFileSync } from '../store/system/rename-file.ts'
import { EndedKeySessions } from './ended-key-sessions.ts'

const sessionLife = 7 * 24 * 60 * 60 * 1000
/** Form of a key: at least 128 bits even in hexadecimal, and only characters that are valid in a header. */
const wellFormed = /^[\x21-\x7e]{32,200}$/
/** Maximum size of a key file, in bytes. */
const maxFile = 1_024
const whatItMustHold = 'it must hold one line of 32 to 200 visible ASCII characters without spaces'

/** Browser session created with the console key. */
export interface KeySession {
  /** Does not reveal the cookie. */
  id: string
  /** Digest of the page's half of the session. */
  page: string
}

/**
 * The console key: the single line of `<data folder>/console.key` (mode 0600). Replacing the file replaces the key at
 * once, unless the file contains no valid key.
 * A browser session is a cookie signed with the key. It survives a restart, and ends by signing out or when the key is
 * replaced.
 */
export class ConsoleKey {
  readonly file: string
  readonly #warn: (message: string) => void
  readonly #ended: EndedKeySessions
  readonly #now: () => number
  /** Time at which the key was last presented, by session. After a restart it must be presented again. */
  readonly #shownAt = new Map<string, number>()
  #key = ''
  #mtime = -1

  /**
   * @param warn called with the problem of the file and its solution, once per state of the file
   * @param now milliseconds since the epoch
   */
  constructor(folder: string, warn: (message: string) => void, now: () => number = Date.now) {
    this.file = join(folder, 'console.key')
    this.#warn = warn
    this.#now = now
    this.#ended = new EndedKeySessions(folder, () => now() + sessionLife, warn)
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
    const body = `${this.#now() + sessionLife}.${randomBytes(12).toString('base64url')}`
    const cookie = `${body}.${this.#sign('session', body)}`
    this.confirm(idOf(cookie))
    return { cookie, half: this.#sign('page', cookie), maxAge: sessionLife / 1000 }
  }

  /** Returns the session of a cookie; undefined if it is invalid, has ended, or belongs to another key. */
  session(cookie: string): KeySession | undefined {
    this.#read()
    const cut = cookie.lastIndexOf('.')
    if (cut <= 0 || !sameSecret(this.#sign('session', cookie.slice(0, cut)), cookie.slice(cut + 1))) return undefined
    const end = endOf(cookie)
    if (end <= this.#now() || this.#ended.has(cookie, end)) return undefined
    return { id: idOf(cookie), page: digestOfHalf(this.#sign('page', cookie)) }
  }

  /** Ends a session for every holder of its cookie. */
  endSession(cookie: string): void {
    if (this.session(cookie) !== undefined) this.#ended.add(cookie, endOf(cookie), this.#now())
  }

  /** Records that the holder of a session presented the key now. */
  confirm(id: string): void {
    for (const known of this.#shownAt.keys()) if (!this.isFresh(known)) this.#shownAt.delete(known)
    this.#shownAt.set(id, this.#now())
  }

  /** Whether the holder of a session presented the key within the last ten minutes. */
  isFresh(id: string): boolean {
    const age = this.#now() - (this.#shownAt.get(id) ?? Number.NEGATIVE_INFINITY)
    // A clock that was set back must not extend the time.
    return age >= 0 && age < passwordFreshMs
  }

  /** Creates the key at the first start, or if the file contains none. An invalid file is kept beside the new one. */
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

  #sign(purpose: 'session' | 'page', body: string): string {
    return createHmac('sha256', this.#key).update(`console ${purpose} ${body}`).digest('base64url')
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

function idOf(cookie: string): string {
  return hash('sha256', cookie, 'base64url')
}

/** Returns the expiry of a session, in milliseconds since the epoch. */
function endOf(session: string): number {
  return Number(session.slice(0, session.indexOf('.')))
}
