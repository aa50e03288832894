import { createHmac, hash, randomBytes } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { passwordFreshMs } from '../access/accounts/account-sessions.ts'
import { digestOfHalf } from '../access/accounts/page-half.ts'
import { sameSecret } from '../edge/same-secret.ts'
import { renameFileSync } from '../store/system/rename-file.ts'
import { EndedKeySessions } from './ended-key-sessions.ts'

const sessionLife = 7 * 24 * 60 * 60 * 1000
/** A key: 128 bits even where it is written in hexadecimal, and nothing that a header could not carry. */
const wellFormed = /^[\x21-\x7e]{32,200}$/
/** Size of a key file that is read, in bytes. */
const maxFile = 1_024
const whatItMustHold = 'it must hold one line of 32 to 200 visible ASCII characters without spaces'

/** A browser's session of the console key. */
export interface KeySession {
  /** Does not reveal the cookie. */
  id: string
  /** Digest of the page's half. */
  page: string
}

/**
 * The console key: the one line of `<data folder>/console.key` (mode 0600). Who replaces the file replaces the key, at once; a file that
 * holds no whole key replaces nothing.
 * A browser's session is a signed cookie made from it: it survives a restart, and ends by signing out or when the key is replaced.
 */
export class ConsoleKey {
  readonly file: string
  readonly #warn: (message: string) => void
  readonly #ended: EndedKeySessions
  readonly #now: () => number
  /** Time at which the key was last shown, by session; after a restart it has to be shown again. */
  readonly #shownAt = new Map<string, number>()
  #key = ''
  #mtime = -1

  /**
   * @param warn called with the fault of the file and its remedy, once for each state of the file
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

  /** The key itself, for the one line that a first start prints on a terminal. */
  get value(): string {
    this.#read()
    return this.#key
  }

  /** Makes a new key; every session ends. */
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

  /** Whether `candidate` is the key, in constant time. */
  matches(candidate: string): boolean {
    this.#read()
    return this.#key !== '' && sameSecret(this.#key, candidate)
  }

  /** Begins a session, valid for 7 days, for somebody who has just shown the key. */
  openSession(): { cookie: string; half: string; maxAge: number } {
    const body = `${this.#now() + sessionLife}.${randomBytes(12).toString('base64url')}`
    const cookie = `${body}.${this.#sign('session', body)}`
    this.confirm(idOf(cookie))
    return { cookie, half: this.#sign('page', cookie), maxAge: sessionLife / 1000 }
  }

  /** Session of a cookie; undefined unless it is one of this key that has not ended. */
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

  /** Notes that the holder of a session has shown the key now. */
  confirm(id: string): void {
    for (const known of this.#shownAt.keys()) if (!this.isFresh(known)) this.#shownAt.delete(known)
    this.#shownAt.set(id, this.#now())
  }

  /** Whether the holder of a session has shown the key within the last ten minutes. */
  isFresh(id: string): boolean {
    const age = this.#now() - (this.#shownAt.get(id) ?? Number.NEGATIVE_INFINITY)
    // A clock that was set back must not extend it.
    return age >= 0 && age < passwordFreshMs
  }

  /** There is no key yet: of a first start, or because the file holds none, which then stays beside the new one. */
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

  /** Reads the file when it changed. */
  #read(): void {
    let mtime: number
    let text: string
    try {
      const found = statSync(this.file)
      mtime = found.mtimeMs
      if (mtime === this.#mtime) return
      text = found.size > maxFile ? '' : readFileSync(this.file, 'utf8').trim()
    } catch {
      // Gone while we run: the key in memory stays good until the next start.
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

/** When a session ends by itself, in milliseconds since the epoch. */
function endOf(session: string): number {
  return Number(session.slice(0, session.indexOf('.')))
}
