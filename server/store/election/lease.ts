import { mustNotFail } from '../../../shared/unawaited.ts'
import type { KnownController, LeaseFigures } from './site-member.ts'
import type { ReportedController } from './controller-rows.ts'
import { fencedError, renewLease } from './leader.ts'
import type { Link } from '../postgres/link.ts'
import { StorageAwayError } from '../storage.ts'
import type { AskOthers, OthersAnswers } from './membership.ts'
import { type ElectionTimes, readsFor } from './timings.ts'
import { HeldLease } from './held-lease.ts'
import type { StoreLogger } from '../notices.ts'
import type { Taken } from './take-over.ts'
import { Peers } from './peers.ts'
import { FencedError } from '../postgres/database-error.ts'
import { isDatabaseRefusal, messageOf } from '../postgres/server-answers.ts'
import type { DatabaseSession } from '../postgres/database-session.ts'
import { elapsed, pauseOn, timeoutSignal } from '../system/time.ts'

export interface LeaseOptions {
  link: Link
  times: ElectionTimes
  /** The first proof; `heedReads` is valid until the first report. */
  taken: Pick<Taken, 'provedAt' | 'provedIn' | 'heedReads'>
  /** Writes the report of this controller. @returns all known controllers */
  report: (session: DatabaseSession) => Promise<readonly ReportedController[]>
  askOthers: AskOthers
  logger: StoreLogger | undefined
}

/**
 * The lease of the leader. Each renewal proves that this controller leads, so that reads may be answered from memory
 * for a limited time. A proof is a commit with the leader's own epoch. A controller that takes over first raises the
 * epoch, then waits until the last proof has expired.
 * While the database is unreachable, a leader answers only if all other controllers report that they cannot reach the
 * database either.
 */
export class Lease {
  readonly #options: LeaseOptions
  /** The lease for background work. */
  readonly held: HeldLease
  /** Time by `elapsed()` until which reads may be answered from memory. */
  #until = 0
  readonly #peers: Peers
  /** Error message of the last renewal; empty: none. */
  #trouble = ''
  #reportedAt = Number.NEGATIVE_INFINITY
  #renewing: Promise<void> | undefined
  #reporting: Promise<void> | undefined
  #asking: Promise<void> | undefined
  #proved = Promise.withResolvers<void>()
  /** Whether the lease is about to be released: no proof counts. */
  #isPaused = false
  readonly #ended = new AbortController()
  /**
   * `provedAt`: `elapsed()` at the last proof; `roundTrip`: see the getter; `slowProof`: duration of a proof, rises at
   * once and falls slowly; the other fields as in LeaseFigures.
   */
  readonly #counted = { provedAt: 0, lapses: 0, waits: 0, isLapsed: false, roundTrip: 0, slowProof: 0 }

  constructor(options: LeaseOptions) {
    this.#options = options
    const { link, taken } = options
    this.held = new HeldLease(options.logger)
    this.#peers = new Peers(taken.heedReads)
    // The duration of raising the epoch is the first measurement, so that the first proofs are valid long enough.
    this.#counted.slowProof = taken.provedIn
    this.#prove(taken.provedAt, options.times.reads)
    // Without its connection the leader has no lock either, and another controller may take over.
    link.onAway(() => {
      this.#until = 0
      this.#findOut()
    })
    link.onBack((since) => {
      this.#prove(since, options.times.reads)
      mustNotFail(this.renew())
    })
    mustNotFail(link.whenFenced.then(() => this.end()))
    mustNotFail(this.#run())
  }

  /** Whether other controllers reported within the duration of a lease. */
  get others(): boolean {
    return this.#peers.havePresent(this.#options.times.lease)
  }

  /**
   * Registers a controller that joined or has a new address. Must not wait for the database, which may be unreachable.
   */
  register(controller: KnownController): void {
    this.#peers.joined(controller)
    // The controller may have a version that waits only for the shortest proof.
    this.#until = Math.min(this.#until, elapsed() + this.#maxReads)
    if (this.#options.link.away() === undefined) return
    this.#until = 0
    this.#findOut()
  }

  /** Returns undefined if reads may be answered from memory now: see FencedStore. */
  confirmed(): Promise<void> | undefined {
    if (elapsed() < this.#until) return undefined
    this.#counted.waits++
    return this.#confirm()
  }

  /** Duration of one statement of the database, in milliseconds: rises slowly, falls at once. */
  get roundTrip(): number {
    return this.#counted.roundTrip
  }

  figures(): LeaseFigures {
    const { provedAt, lapses, waits } = this.#counted
    return { epoch: Number(this.#options.link.term.epoch), provedFor: elapsed() - provedAt, lapses, waits }
  }

  #confirm(): Promise<void> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }

  /** Renews the lease now. Never rejects: the owner of the connection handles failures. */
  renew(): Promise<void> {
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = undefined
    })
    return this.#renewing
  }

  /** Announces this controller's new address to the other controllers. */
  resend(): void {
    const before = this.#renewing ?? Promise.resolve()
    const renewed = before.then(() => {
      this.#reportedAt = Number.NEGATIVE_INFINITY
      return this.renew()
    })
    mustNotFail(renewed)
  }

  /** Confirms nothing until the returned function is called: the lease is about to be released. */
  pause(): () => void {
    this.#isPaused = true
    this.#until = 0
    return () => {
      this.#isPaused = false
      mustNotFail(this.renew())
    }
  }

  /** Ends the lease: renewals stop, and no read is confirmed from now on. */
  end(): void {
    this.#until = 0
    this.held.end()
    this.#ended.abort()
  }

  /**
   * Checks whether another controller leads while the database is unreachable, even if no read requires a check. If so,
   * pending changes fail before their deadline.
   */
  #findOut(): void {
    // Ignores a failure: a lease that is not confirmed lapses, and its listeners are notified.
    if (elapsed() >= this.#until) this.#confirm().catch(() => undefined)
  }

  async #run(): Promise<void> {
    const { link } = this.#options
    const { signal } = this.#ended
    while (!signal.aborted) {
      // A database that does not answer delays a renewal for seconds: the lapse is counted meanwhile.
      await Promise.race([this.renew(), this.#next()])
      if (link.away() !== undefined) this.#findOut()
      if (elapsed() >= this.#until && !this.#counted.isLapsed) {
        this.#counted.isLapsed = true
        this.#counted.lapses++
      }
      await this.#next()
    }
  }

  /** Resolves when the next renewal is due, or the lease ends. */
  async #next(): Promise<void> {
    await pauseOn(this.#options.times.prove, { signal: this.#ended.signal, ref: false })
  }

  async #renew(): Promise<void> {
    const { link, times } = this.#options
    if (link.away() !== undefined || link.fenced !== undefined || this.#isPaused) return
    const { session, term } = link.current()
    const since = elapsed()
    // A takeover reads only the last value, so this value must also be long enough for earlier proofs.
    const reads = Math.max(this.#reads, Math.ceil(this.#until - since))
    try {
      if (!(await renewLease(session, term, reads))) {
        // A renewal during a reconnection proves nothing.
        if (link.term === term && session.lost === undefined) link.fence(await fencedError(session))
        return
      }
      this.#took(elapsed() - since)
      // If the connection was lost meanwhile, the lock was released.
      if (session.lost !== undefined) return
      this.#prove(since, Math.min(reads, this.#maxReads))
      // Reports run in parallel to renewals: a report takes several statements, and must not delay renewals if the
      // database is slow.
      if (since - this.#reportedAt >= times.renew) this.#reporting ??= this.#report(session, since)
      this.#trouble = ''
    } catch (error) {
      this.#failed(session, error)
    }
  }

  #failed(session: DatabaseSession, error: unknown): void {
    const { link, logger } = this.#options
    // A lost connection is reported separately. A rejected statement does not make the connection unusable: the lease
    // expires.
    if (session.lost !== undefined) return
    if (!isDatabaseRefusal(error)) link.give(session, error)
    const said = messageOf(error)
    if (said !== this.#trouble) logger?.warn({ err: error }, 'The lease of this controller cannot be renewed.')
    this.#trouble = said
  }

  #took(milliseconds: number): void {
    const { roundTrip, slowProof } = this.#counted
    this.#counted.roundTrip = Math.min(milliseconds, roundTrip + (milliseconds - roundTrip) / 4)
    this.#counted.slowProof = Math.max(milliseconds, slowProof + (milliseconds - slowProof) / 4)
  }

  /** Validity of a proof that begins now, in milliseconds. */
  get #reads(): number {
    return Math.min(this.#maxReads, readsFor(this.#options.times, this.#counted.slowProof))
  }

  get #maxReads(): number {
    const { reads, maxReads } = this.#options.times
    return this.#peers.heedReads ? maxReads : reads
  }

  async #report(session: DatabaseSession, now: number): Promise<void> {
    this.#reportedAt = now
    try {
      this.#peers.found(await this.#options.report(session))
      this.#until = Math.min(this.#until, elapsed() + this.#maxReads)
    } catch (error) {
      this.#reportedAt = Number.NEGATIVE_INFINITY
      this.#failed(session, error)
    } finally {
      this.#reporting = undefined
    }
  }

  /**
   * Records a proof.
   * @param since start of the proof, by `elapsed()`
   * @param reads validity of the proof, in milliseconds
   */
  #prove(since: number, reads: number): void {
    if (this.#isPaused || this.#ended.signal.aborted) return
    const { times } = this.#options
    this.#until = Math.max(this.#until, since + reads)
    this.held.extend(since + times.lease)
    this.#counted.provedAt = Math.max(this.#counted.provedAt, since)
    this.#counted.isLapsed = false
    this.#proved.resolve()
    this.#proved = Promise.withResolvers()
  }

  async #ask(): Promise<void> {
    const { link, times } = this.#options
    if (link.away()?.tried !== true) {
      mustNotFail(this.renew())
      await this.#news(times.proof)
    }
    while (!this.#settled()) {
      const since = elapsed()
      const { joinings } = this.#peers
      const asked = new AbortController()
      const said = await Promise.race([this.#saidByOthers(asked.signal), this.#news(times.ask)])
      asked.abort()
      if (this.#settled()) return
      const { leader } = said ?? {}
      if (leader !== undefined && BigInt(leader.epoch) > BigInt(link.term.epoch))
        throw link.fence(this.#fencedBy(leader.id))
      // Another controller may lead by now if it does not answer, has joined meanwhile, or if its address belongs to a
      // different controller. A controller may also have led and handed over meanwhile, so that it is a replica again.
      const isFollowed = said?.epoch !== undefined && BigInt(said.epoch) > BigInt(link.term.epoch)
      const isAlone =
        !isFollowed &&
        this.#peers.areKnown &&
        said?.unproven === false &&
        !said.reachDatabase &&
        joinings === this.#peers.joinings
      // A replica that reaches the database again waits longer than `times.ask`, so no takeover happens before the next
      // request.
      if (isAlone && !this.#isPaused) {
        this.#until = since + times.ask
        this.held.extend(since + times.lease)
      } else await this.#news(times.askAgain)
    }
  }

  /**
   * Asks all other controllers, even controllers without recent reports: a machine that was switched off may be running
   * again.
   * @returns undefined: a controller did not answer in time
   */
  async #saidByOthers(signal: AbortSignal): Promise<OthersAnswers | undefined> {
    const { askOthers, times } = this.#options
    const deadline = AbortSignal.any([signal, timeoutSignal(times.ask)])
    // Without answers, this controller does not count as alone.
    const said = await askOthers(this.#peers.all, deadline).catch(() => undefined)
    return deadline.aborted ? undefined : said
  }

  #fencedBy(id: string): FencedError {
    const by = this.#peers.all.find((controller) => controller.id === id)
    return by === undefined ? new FencedError('') : new FencedError(by.name, { ...by, role: 'leader' })
  }

  /** Resolves when the lease was proved, another controller leads, or the delay has passed. */
  async #news(ms: number): Promise<undefined> {
    const over = new AbortController()
    const late = pauseOn(ms, { signal: over.signal, ref: false })
    await Promise.race([this.#proved.promise, this.#options.link.whenFenced, late])
    over.abort()
  }

  #settled(): boolean {
    const { fenced } = this.#options.link
    if (fenced !== undefined) throw fenced
    if (this.#ended.signal.aborted) throw new StorageAwayError('this controller ends')
    return elapsed() < this.#until
  }
}
