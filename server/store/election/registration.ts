import { mustNotFail } from '../../../shared/unawaited.ts'
import { monotonic } from '../system/time.ts'
import type { KnownController } from './site-member.ts'
import { leaderPlaceOf, type LeaderRow, type OwnRow } from './controller-rows.ts'
import type { RegisterWithLeader } from './membership.ts'

export interface RegistrationOptions {
  id: string
  ownRow: Pick<OwnRow, 'joiner'>
  register: RegisterWithLeader
  /** Maximum wait for a leader that is running but does not register this controller, in milliseconds. */
  patienceMs: number
  /** Minimum interval between two attempts, in milliseconds. */
  betweenMs: number
  /** Called at the first conclusive answer of each new leader. */
  onNews: () => void
}

/**
 * Registers this controller with the leader. A leader without the database answers from memory only if no registered
 * controller reaches the database. Therefore two controllers never answer at the same time.
 * The leader reads the other controllers from the database only when it renews its lease, so a joining controller must
 * register.
 */
export class Registration {
  readonly #options: RegistrationOptions
  #holder = ''
  /** Time at which this leader was first seen, by monotonic(). */
  #since = 0
  #state: 'open' | 'known' | 'gone' = 'open'
  #attemptedAt = Number.NEGATIVE_INFINITY
  #attempt: AbortController | undefined

  constructor(options: RegistrationOptions) {
    this.#options = options
  }

  /** Registers this controller with the current leader in the background, if necessary. */
  to(row: LeaderRow | undefined): void {
    if (row?.holder !== this.#holder) this.#restart(row?.holder ?? '')
    const leader = row === undefined ? undefined : leaderPlaceOf(row)
    if (leader === undefined || leader.id === this.#options.id || this.#state === 'known') return
    if (this.#attempt !== undefined || monotonic() - this.#attemptedAt < this.#options.betweenMs) return
    mustNotFail(this.#register(leader))
  }

  /** Whether this controller may become leader after the leader of this row. */
  isDone(row: LeaderRow): boolean {
    // A tool has exclusive access to the site, and accepts no registrations.
    if (row.controller === null || row.controller === this.#options.id) return true
    if (row.holder !== this.#holder) return false
    return this.#state !== 'open' || monotonic() - this.#since > this.#options.patienceMs
  }

  /** Registers again, because this controller has a new address. */
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
    const { register, ownRow } = this.#options
    // A failed attempt is retried later.
    const said = await register(leader, ownRow.joiner, attempt.signal).catch(() => 'open' as const)
    if (attempt.signal.aborted) return
    this.#attempt = undefined
    // Only the first conclusive answer of a leader is news.
    const news = this.#state === 'open' && said !== 'open'
    this.#state = said
    if (news) this.#options.onNews()
  }
}
