import { limits } from '../../shared/limits.ts'
import type { ConsoleKey } from './console-key.ts'

const window = 60_000

/** What became of a key that somebody offered. */
export type KeyVerdict = { verdict: 'right' } | { verdict: 'wrong' } | { verdict: 'blocked'; retryAfter: number }

/** Lets a client address try five wrong console keys a minute; then it is refused until the minute is over, right key or not. */
export class KeyGuard {
  readonly #key: ConsoleKey
  readonly #limit: number
  readonly #failures = new Map<string, { count: number; until: number }>()

  constructor(key: ConsoleKey, limit = 5) {
    this.#key = key
    this.#limit = limit
  }

  /** `retryAfter` is in seconds. */
  judge(client: string, candidate: string): KeyVerdict {
    const now = performance.now()
    const failure = this.#failures.get(client)
    const current = failure !== undefined && failure.until > now ? failure : undefined
    if (current !== undefined && current.count >= this.#limit) {
      return { verdict: 'blocked', retryAfter: Math.max(1, Math.ceil((current.until - now) / 1000)) }
    }
    if (this.#key.matches(candidate)) return { verdict: 'right' }
    this.#failures.delete(client)
    if (this.#failures.size >= limits.rememberedAddresses) this.#forgetOldest()
    this.#failures.set(client, { count: (current?.count ?? 0) + 1, until: current?.until ?? now + window })
    return { verdict: 'wrong' }
  }

  #forgetOldest(): void {
    for (const client of this.#failures.keys()) {
      this.#failures.delete(client)
      return
    }
  }
}
