import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { chmodSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const sessionLife = 7 * 24 * 60 * 60 * 1000

/**
 * The console key: the one line of `<data folder>/console.key` (mode 0600). Who replaces the file replaces the key, at once.
 * A browser's session is a signed cookie made from it: it survives a restart and ends when the key is replaced.
 */
export class ConsoleKey {
  readonly file: string
  #key = ''
  #mtime = -1

  constructor(folder: string) {
    this.file = join(folder, 'console.key')
    if (!this.#read()) this.replace()
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
    renameSync(temporary, this.file)
    this.#mtime = -1
    this.#read()
    return key
  }

  /** Whether `candidate` is the key, in constant time. */
  matches(candidate: string): boolean {
    this.#read()
    return this.#key !== '' && same(candidate, this.#key)
  }

  /** The value of a session cookie, good for 7 days. */
  openSession(now = Date.now()): { value: string; maxAge: number } {
    const body = `${now + sessionLife}.${randomBytes(12).toString('base64url')}`
    return { value: `${body}.${this.#sign(body)}`, maxAge: sessionLife / 1000 }
  }

  /** Whether a cookie's value is a session of this key that has not ended. */
  holdsSession(value: string, now = Date.now()): boolean {
    this.#read()
    const cut = value.lastIndexOf('.')
    if (cut <= 0 || !same(value.slice(cut + 1), this.#sign(value.slice(0, cut)))) return false
    return Number(value.slice(0, value.indexOf('.'))) > now
  }

  #sign(body: string): string {
    return createHmac('sha256', this.#key).update(`console session ${body}`).digest('base64url')
  }

  /** Reads the file when it changed; false when there is no usable key in it. */
  #read(): boolean {
    try {
      const mtime = statSync(this.file).mtimeMs
      if (mtime !== this.#mtime) {
        const key = readFileSync(this.file, 'utf8').trim()
        if (key.length < 16) return this.#key !== ''
        this.#key = key
        this.#mtime = mtime
      }
      return true
    } catch {
      // Gone while we run: the key in memory stays good until the next start.
      return this.#key !== ''
    }
  }
}

/** Equality in time that depends on the candidate's length alone: both sides are hashed to one length first. */
function same(a: string, b: string): boolean {
  const digest = (text: string) => createHmac('sha256', 'compare').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}
