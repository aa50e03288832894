import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { hasCode } from '../../shared/error-code.ts'
import { isExpired } from '../../shared/tokens.ts'
import { tokenDigest } from '../../shared/files/signed-tokens.ts'
import { renameFileSync } from '../store/system/rename-file.ts'

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
export class EndedKeySessions {
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
