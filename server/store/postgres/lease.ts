import { setTimeout as sleep } from 'node:timers/promises'
import type { KnownController } from '../site-member.ts'
import { deposed, renewLease } from './leader.ts'
import type { Link } from './link.ts'
import type { AskOthers, MemberTimes } from './member-options.ts'
import { DeposedError } from './database-error.ts'
import { isRefusal, saidBy } from './server-answers.ts'
import type { Session } from './session.ts'

export interface LeaseOptions {
  link: Link
  times: MemberTimes
  /** performance.now() just before the epoch was raised. */
  provedAt: number
  /** Says what this controller has to say of itself, once for each renewal. @returns all controllers as they are known then */
  report: (session: Session) => Promise<readonly KnownController[]>
  askOthers: AskOthers
  /** Told what the database has refused. */
  onError: (error: unknown) => void
}

/** The database has this long to prove a lease, when it is asked for, before others are asked, in milliseconds. */
const proofMs = 300
/** Others that were asked answer within this time; for as long nobody is asked again, in milliseconds. */
const askMs = 1_000
/** One that reaches the database while we do not is about to take over: it is asked again after this time, in milliseconds. */
const againMs = 100

/** The lease of the one that leads: renewed, and proved before memory answers for the site. */
export class Lease {
  readonly #options: LeaseOptions
  #until: number
  #known: readonly KnownController[] = []
  /** What the database said to the last renewal. */
  #trouble = ''
  #renewing: Promise<void> | undefined
  #asking: Promise<void> | undefined
  #proved = Promise.withResolvers<void>()
  readonly #ended = new AbortController()

  constructor(options: LeaseOptions) {
    this.#options = options
    this.#until = 0
    this.#prove(options.provedAt)
    const { link } = options
    // Who takes the lock over does not wait for the lease.
    link.onAway(() => {
      this.#until = 0
      this.#findOut()
    })
    link.onBack((since) => {
      this.#prove(since)
      void this.renew()
    })
    void link.deposition.then(() => {
      this.#until = 0
      this.end()
    })
    void this.#run()
  }

  /** Whether other controllers were heard of during the last lease. */
  get others(): boolean {
    const now = this.#known[0]?.seenAt ?? 0
    return this.#known.slice(1).some(({ seenAt }) => now - seenAt < this.#options.times.lease)
  }

  /** See LedStore. */
  confirmed(): Promise<void> | undefined {
    if (performance.now() < this.#until) return undefined
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }

  /** Renews it now, and reports. Never rejects: what is wrong with the connection, its owner hears. */
  renew(): Promise<void> {
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = undefined
    })
    return this.#renewing
  }

  /** What this controller has to say of itself has changed: it is said now. */
  sayAnew(): void {
    const before = this.#renewing ?? Promise.resolve()
    void before.then(() => this.renew())
  }

  /** It is not renewed any more. */
  end(): void {
    this.#ended.abort()
  }

  /** Whoever is cut off from the database learns that another leads also while nobody reads: what waits to be stored fails then, and need not wait for its deadline. */
  #findOut(): void {
    this.confirmed()?.catch(() => undefined)
  }

  async #run(): Promise<void> {
    const { link } = this.#options
    const { signal } = this.#ended
    while (!signal.aborted) {
      await this.renew()
      if (link.away() !== undefined) this.#findOut()
      await sleep(this.#options.times.renew, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  async #renew(): Promise<void> {
    const { link, report, onError } = this.#options
    if (link.away() !== undefined || link.deposed !== undefined) return
    const { session, epoch } = link.current()
    const since = performance.now()
    try {
      if (!(await renewLease(session, epoch))) {
        // A renewal that was under way while the connection was made anew says nothing.
        if (link.epoch === epoch && session.lost === undefined) link.depose(await deposed(session))
        return
      }
      // A connection that was lost since has given the lock back.
      if (session.lost !== undefined) return
      this.#prove(since)
      this.#known = await report(session)
      this.#trouble = ''
    } catch (error) {
      // A connection that is lost tells so itself. A refusal is no reason to give it up: the lease ends.
      if (session.lost !== undefined) return
      if (!isRefusal(error)) link.give(session, error)
      const said = saidBy(error)
      if (said !== this.#trouble) onError(error)
      this.#trouble = said
    }
  }

  #prove(since: number): void {
    const { lease, margin } = this.#options.times
    this.#until = Math.max(this.#until, since + lease - margin)
    this.#proved.resolve()
    this.#proved = Promise.withResolvers()
  }

  async #ask(): Promise<void> {
    const { link, askOthers } = this.#options
    if (link.away()?.tried !== true) {
      void this.renew()
      await this.#news(proofMs)
    }
    while (!this.#settled()) {
      const since = performance.now()
      const asked = new AbortController()
      const deadline = AbortSignal.any([asked.signal, AbortSignal.timeout(askMs)])
      const others = askOthers(this.#known.slice(1), deadline).catch(() => undefined)
      const said = await Promise.race([others, this.#news(askMs).then(() => undefined)])
      asked.abort()
      if (this.#settled()) return
      const { leader, reachDatabase = false } = said ?? {}
      if (leader !== undefined && BigInt(leader.epoch) > BigInt(link.epoch))
        throw link.depose(this.#deposedBy(leader.id))
      // Nobody can take over before it is asked again: who finds the database gives the leader longer than that.
      if (!reachDatabase) this.#until = since + askMs
      else await this.#news(againMs)
    }
  }

  #deposedBy(id: string): DeposedError {
    const by = this.#known.find((controller) => controller.id === id)
    return by === undefined ? new DeposedError('') : new DeposedError(by.name, { ...by, role: 'leader' })
  }

  /** Resolves when the lease was proved, or another leads; or after some milliseconds. */
  async #news(ms: number): Promise<void> {
    const over = new AbortController()
    const late = sleep(ms, undefined, { signal: over.signal, ref: false }).catch(() => undefined)
    await Promise.race([this.#proved.promise, this.#options.link.deposition, late])
    over.abort()
  }

  #settled(): boolean {
    const { deposed } = this.#options.link
    if (deposed !== undefined) throw deposed
    return performance.now() < this.#until || this.#ended.signal.aborted
  }
}
