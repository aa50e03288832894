import { mustNotFail } from '../../../shared/unawaited.ts'
import { monotonic } from '../system/time.ts'
import type { KnownController } from './site-member.ts'
import { type LeaderRow, placeOf } from './controller-rows.ts'

export interface RegistrationOptions {
  /** Identifier of this controller. */
  id: string
  /** See RegisterWithLeader. */
  register: (leader: Pick<KnownController, 'id' | 'place'>, signal: AbortSignal) => Promise<'known' | 'gone' | 'open'>
  /** A leader that is there and takes no note is waited for so long, in milliseconds. */
  patienceMs: number
  /** At least between two attempts, in milliseconds. */
  betweenMs: number
  /** Called on the first answer of each new leader. */
  onNews: () => void
}

/**
 * Registration of this controller with the leader. A leader that is cut off from the database answers from memory unless a registered controller reaches the database: then nobody
 * else can lead and answer as well. The leader reads the other controllers from the database only when it renews its lease, so a joining controller registers.
 */
export class Registration {
  readonly #options: RegistrationOptions
  /** Leader at the last check. */
  #holder = ''
  /** monotonic() when this leader was first seen to lead. */
  #since = 0
  #state: 'open' | 'known' | 'gone' = 'open'
  #attemptedAt = Number.NEGATIVE_INFINITY
  #attempt: AbortController | undefined

  constructor(options: RegistrationOptions) {
    this.#options = options
  }

  /** Makes this controller known to the one that leads, where that is to be done; in the background. */
  to(row: LeaderRow | undefined): void {
    if (row?.holder !== this.#holder) this.#restart(row?.holder ?? '')
    const leader = row === undefined ? undefined : placeOf(row)
    if (leader === undefined || leader.id === this.#options.id || this.#state === 'known') return
    if (this.#attempt !== undefined || monotonic() - this.#attemptedAt < this.#options.betweenMs) return
    mustNotFail(this.#register(leader))
  }

  /** Whether this controller may lead after that one. */
  isDone(row: LeaderRow): boolean {
    // A tool has the site alone, and answers nobody.
    if (row.controller === null || row.controller === this.#options.id) return true
    if (row.holder !== this.#holder) return false
    return this.#state !== 'open' || monotonic() - this.#since > this.#options.patienceMs
  }

  /** Registers again: this controller has a new address. */
  again(): void {
    this.#restart(this.#holder)
  }

  #restart(holder: string): void {
    this.#attempt?.abort()
    this.#attempt = undefined
    this.#holder = holder
    this.#since = monotonic()
    this.#state = 'open'
    this.#attemptedAt = Number.NEGATIVE_INFINITY
  }

  async #register(leader: Pick<KnownController, 'id' | 'place'>): Promise<void> {
    const attempt = new AbortController()
    this.#attempt = attempt
    this.#attemptedAt = monotonic()
    // It is tried again.
    const said = await this.#options.register(leader, attempt.signal).catch(() => 'open' as const)
    if (attempt.signal.aborted) return
    this.#attempt = undefined
    // One that was reached once is there, however it does later.
    const news = this.#state === 'open' && said !== 'open'
    this.#state = said
    if (news) this.#options.onNews()
  }
}
