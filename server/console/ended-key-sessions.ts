import { hash } from 'node:crypto'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { hasCode } from '../../shared/error-code.ts'
import { renameFileSync } from '../store/system/rename-file.ts'

/** Ended sessions that are kept by name; beyond it all that have begun end. */
const maxEnded = 1_000

const fileSchema = z.object({
  /** Sessions that end no later than this are over, in milliseconds since the epoch. */
  all_until: z.number().default(0),
  /** Hash of each session that was ended, with the time at which it would have ended by itself. */
  ended: z.array(z.tuple([z.string(), z.number()])).max(maxEnded),
})

/** Sessions of the console key that were ended by signing out, in `<data folder>/console.ended`: a session is a signed cookie, which says nothing of that. */
export class EndedKeySessions {
  readonly #file: string
  readonly #latestEnd: () => number
  readonly #warn: (message: string) => void
  readonly #ended = new Map<string, number>()
  #allUntil = 0

  /**
   * @param latestEnd of a session that begins now, milliseconds since the epoch
   * @param warn notified of a file that cannot be read or written
   */
  constructor(folder: string, latestEnd: () => number, warn: (message: string) => void) {
    this.#latestEnd = latestEnd
    this.#file = join(folder, 'console.ended')
    this.#warn = warn
    this.#read()
  }

  has(session: string, endsAt: number): boolean {
    return endsAt <= this.#allUntil || this.#ended.has(keyOf(session))
  }

  /** Ends a session, which would have ended by itself at `endsAt`, milliseconds since the epoch. */
  add(session: string, endsAt: number, now: number): void {
    for (const [key, end] of this.#ended) if (end <= now) this.#ended.delete(key)
    if (this.#ended.size >= maxEnded) {
      this.#allUntil = Math.max(endsAt, ...this.#ended.values())
      this.#ended.clear()
    } else this.#ended.set(keyOf(session), endsAt)
    this.#write()
  }

  #read(): void {
    try {
      const { all_until, ended } = fileSchema.parse(JSON.parse(readFileSync(this.#file, 'utf8')))
      this.#allUntil = all_until
      for (const [key, end] of ended) this.#ended.set(key, end)
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return
      // Sessions that were ended might live again: all that have begun end.
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
      // The consequence is what the operator has to know.
      this.#warn(`${this.#file} cannot be written: the session that was ended lives again after a restart.`)
    }
  }
}

function keyOf(session: string): string {
  return hash('sha256', session, 'base64url')
}
