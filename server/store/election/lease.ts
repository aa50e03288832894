import { monotonic, sleep, timeoutSignal } from '../system/time.ts'
import type { KnownController } from './site-member.ts'
import { fencedError, renewLease } from './leader.ts'
import type { Link } from '../postgres/link.ts'
import type { AskOthers, OthersAnswers } from './member-options.ts'
import type { ElectionTimes } from './timings.ts'
import { FencedError } from '../postgres/database-error.ts'
import { isRefusal, messageOf } from '../postgres/server-answers.ts'
import type { Session } from '../postgres/database-session.ts'

export interface LeaseOptions {
  link: Link
  times: ElectionTimes
  /** monotonic() just before the epoch was raised. */
  provedAt: number
  /** Writes the report of this controller, once for each renewal. @returns all controllers as they are known then */
  report: (session: Session) => Promise<readonly KnownController[]>
  askOthers: AskOthers
  /** Called with an error of the database. */
  onError: (error: unknown) => void
}

/** The lease of the one that leads: renewed, and proved before memory answers for the site. */
export class Lease {
  readonly #options: LeaseOptions
  #until: number
  /** This controller first, as the last renewal has found them. */
  #known: readonly KnownController[] = []
  /** Controllers that have joined since, by id. */
  readonly #joined = new Map<string, KnownController>()
  /** Number of joinings until now. */
  #joinings = 0
  /** Answer of the database to the last renewal. */
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
    // Without its connection the leader has no lock either, and another controller takes over without waiting for the lease.
    link.onAway(() => {
      this.#until = 0
      this.#findOut()
    })
    link.onBack((since) => {
      this.#prove(since)
      void this.renew()
    })
    void link.whenFenced.then(() => {
      this.#until = 0
      this.end()
    })
    void this.#run()
  }

  /** Whether other controllers reported during the last lease. */
  get others(): boolean {
    return this.#others().some((other) => this.#isPresent(other))
  }

  /** Registers a controller that joined or has a new address, at once: the database may be away. */
  register(controller: KnownController): void {
    this.#joined.set(controller.id, controller)
    this.#joinings += 1
    if (this.#options.link.away() === undefined) return
    this.#until = 0
    this.#findOut()
  }

  /** Whether reads may be answered from memory: see FencedStore. */
  confirmed(): Promise<void> | undefined {
    if (monotonic() < this.#until) return undefined
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }

  /** Renews the lease now, and reports. Never rejects: the owner of the connection handles its failures. */
  renew(): Promise<void> {
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = undefined
    })
    return this.#renewing
  }

  /** Announces this controller's new address to the others. */
  sayAnew(): void {
    const before = this.#renewing ?? Promise.resolve()
    void before.then(() => this.renew())
  }

  /** It is not renewed any more. */
  end(): void {
    this.#ended.abort()
  }

  /** Finds out, without any read, that another controller leads while the database is cut off: changes that wait to be stored fail then, before their deadline. */
  #findOut(): void {
    this.confirmed()?.catch(() => undefined)
  }

  async #run(): Promise<void> {
    const { link } = this.#options
    const { signal } = this.#ended
    while (!signal.aborted) {
      await this.renew()
      if (link.away() !== undefined) this.#findOut()
      await sleep(this.#options.times.renew, { signal, ref: false }).catch(() => undefined)
    }
  }

  async #renew(): Promise<void> {
    const { link, report, onError } = this.#options
    if (link.away() !== undefined || link.fenced !== undefined) return
    const { session, epoch } = link.current()
    const since = monotonic()
    try {
      if (!(await renewLease(session, epoch))) {
        // A renewal during a reconnection proves nothing.
        if (link.epoch === epoch && session.lost === undefined) link.fence(await fencedError(session))
        return
      }
      // A connection that was lost since has given the lock back.
      if (session.lost !== undefined) return
      this.#prove(since)
      this.#known = await report(session)
      for (const { id, place } of this.#known)
        if (this.#joined.get(id)?.place.console === place.console) this.#joined.delete(id)
      this.#trouble = ''
    } catch (error) {
      // A connection that is lost tells so itself. A refusal is no reason to give it up: the lease ends.
      if (session.lost !== undefined) return
      if (!isRefusal(error)) link.give(session, error)
      const said = messageOf(error)
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
    const { link, times } = this.#options
    if (link.away()?.tried !== true) {
      void this.renew()
      await this.#news(times.proof)
    }
    while (!this.#settled()) {
      const since = monotonic()
      const joinings = this.#joinings
      const asked = new AbortController()
      const said = await Promise.race([this.#saidByOthers(asked.signal), this.#news(times.ask)])
      asked.abort()
      if (this.#settled()) return
      const answers = said === undefined ? [] : [said.present, said.missing]
      for (const { leader } of answers)
        if (leader !== undefined && BigInt(leader.epoch) > BigInt(link.epoch))
          throw link.fence(this.#fencedBy(leader.id))
      // A controller that does not answer may lead by now, and so may one that has joined meanwhile, or in whose place another one answers.
      const isUnknown = said === undefined || said.present.unproven === true || joinings !== this.#joinings
      const alone = !isUnknown && answers.every(({ reachDatabase }) => !reachDatabase)
      // Nobody takes over before the next request: a replica that reaches the database again first waits longer than that.
      if (alone) this.#until = since + times.ask
      else await this.#news(times.askAgain)
    }
  }

  /** Asks the other controllers. @returns undefined: one that reported during the last lease did not answer in time */
  async #saidByOthers(signal: AbortSignal): Promise<Record<'present' | 'missing', OthersAnswers> | undefined> {
    const { askOthers, times } = this.#options
    const others = this.#others()
    const isThere = others.filter((other) => this.#isPresent(other))
    // A machine that was switched off long ago is silent, too, or another one has its address by now. Had it come back, it would have registered.
    const isMissing = others.filter((other) => !this.#isPresent(other))
    const within = (ms: number): AbortSignal => AbortSignal.any([signal, timeoutSignal(ms)])
    const deadline = within(times.ask)
    const asked = [askOthers(isThere, deadline), askOthers(isMissing, within(times.askMissing))] as const
    const said = await Promise.all(asked).catch(() => undefined)
    if (said === undefined || deadline.aborted) return undefined
    const [present, missing] = said
    return { present, missing }
  }

  #isPresent({ seenAt }: KnownController): boolean {
    return (this.#known[0]?.seenAt ?? 0) - seenAt < this.#options.times.lease
  }

  #others(): KnownController[] {
    const known = this.#known.slice(1).filter(({ id }) => !this.#joined.has(id))
    return [...known, ...this.#joined.values()]
  }

  #fencedBy(id: string): FencedError {
    const by = this.#others().find((controller) => controller.id === id)
    return by === undefined ? new FencedError('') : new FencedError(by.name, { ...by, role: 'leader' })
  }

  /** Resolves when the lease was proved, or another leads; or after some milliseconds. */
  async #news(ms: number): Promise<void> {
    const over = new AbortController()
    const late = sleep(ms, { signal: over.signal, ref: false }).catch(() => undefined)
    await Promise.race([this.#proved.promise, this.#options.link.whenFenced, late])
    over.abort()
  }

  #settled(): boolean {
    const { fenced } = this.#options.link
    if (fenced !== undefined) throw fenced
    return monotonic() < this.#until || this.#ended.signal.aborted
  }
}
