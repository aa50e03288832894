import { unlessAborted } from '../../../shared/abort.ts'
import type { Settings } from '../../../shared/settings.ts'
import { mustNotFail } from '../../../shared/unawaited.ts'
import { DeadlineError, within } from '../port/deadline.ts'
import type { NodeHealth } from '../port/media-node-port.ts'
import type { HealthState, LiveHealth } from './state/live-node.ts'

interface HealthMonitorOptions {
  /** Polls the node once. */
  ask: (signal: AbortSignal) => Promise<NodeHealth>
  deadlines: () => Settings['deadlines']
  /** Called when the state changed, with the error of the last poll. */
  onState: (state: HealthState, error: unknown) => void
  /** Called when a poll succeeded, after `onState`. */
  onHealthy: () => void
  /** Called when a poll failed, before `onState`. */
  onFailure: (error: unknown) => void
}

/**
 * Polls one node at once, then periodically, and sooner if a call failed. Its timers do not keep the process running.
 */
export class HealthMonitor implements LiveHealth {
  readonly #options: HealthMonitorOptions
  readonly #stopper = new AbortController()
  readonly #verdict = new HealthVerdict()
  #polling = false
  #pollAgain = false
  #startedAt = 0
  #timer: NodeJS.Timeout | undefined
  /** Pending calls of `judged`, with the time of the call. */
  readonly #waiting = new Map<() => void, number>()

  constructor(options: HealthMonitorOptions) {
    this.#options = options
  }

  get state(): HealthState {
    return this.#verdict.state
  }

  get unresponsive(): boolean {
    return this.#verdict.unresponsive
  }

  get failing(): boolean {
    return this.#verdict.failing
  }

  get last(): NodeHealth | undefined {
    return this.#verdict.last
  }

  get lastSuccess(): number {
    return this.#verdict.lastSuccess
  }

  /** Starts polling. Resolves when the first poll has ended or its deadline has passed. */
  start(): Promise<void> {
    return this.#poll()
  }

  /** Polls at once, or again after the current poll. Many calls at the same time cause one poll. */
  pollSoon(): void {
    if (this.#stopper.signal.aborted) return
    if (this.#polling) {
      this.#pollAgain = true
      return
    }
    this.#schedule(this.#shortestGap() - (performance.now() - this.#startedAt))
  }

  /**
   * Handles a call without an answer within its deadline. If a poll fails by its deadline as well, the node is offline.
   * @param since start of the call, on the clock of `performance.now()`
   */
  unanswered(since: number, error: unknown): void {
    if (this.#stopper.signal.aborted) return
    this.#verdict.unanswered(since)
    if (this.state === 'online') this.#conclude(error)
    this.pollSoon()
  }

  async judged(signal?: AbortSignal): Promise<void> {
    if (this.state === 'offline' || this.#stopper.signal.aborted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.set(resolve, performance.now())
    this.pollSoon()
    try {
      await unlessAborted(promise, signal)
    } finally {
      this.#waiting.delete(resolve)
    }
  }

  stop(): void {
    this.#stopper.abort(new Error('the health monitor was stopped'))
    clearTimeout(this.#timer)
    this.#release(Number.POSITIVE_INFINITY)
  }

  /** Resolves calls of `judged` that were made before this time, on the clock of `performance.now()`. */
  #release(before: number): void {
    for (const [resolve, askedAt] of this.#waiting) if (askedAt <= before) resolve()
  }

  #shortestGap(): number {
    return this.#options.deadlines().health_interval_ms / 8
  }

  #schedule(milliseconds: number): void {
    clearTimeout(this.#timer)
    if (this.#stopper.signal.aborted) return
    this.#timer = setTimeout(() => mustNotFail(this.#poll()), Math.max(0, milliseconds))
    this.#timer.unref()
  }

  async #poll(): Promise<void> {
    this.#polling = true
    this.#pollAgain = false
    this.#startedAt = performance.now()
    const { health_ms, health_interval_ms } = this.#options.deadlines()
    try {
      const limits = { milliseconds: health_ms, signal: this.#stopper.signal }
      const health = await within(limits, this.#options.ask)
      if (this.#stopper.signal.aborted) return
      this.#succeeded(health)
    } catch (error) {
      if (this.#stopper.signal.aborted) return
      this.#failed(error)
    } finally {
      this.#polling = false
      const unsure = this.#verdict.state === 'online' && this.#verdict.failing
      if (this.#pollAgain || this.#waiting.size > 0)
        this.#schedule(this.#shortestGap() - (performance.now() - this.#startedAt))
      else this.#schedule(unsure ? health_interval_ms / 4 : health_interval_ms)
    }
  }

  #succeeded(health: NodeHealth): void {
    if (this.#verdict.succeeded(health, this.#startedAt)) this.#options.onState('online', undefined)
    this.#options.onHealthy()
    this.#release(this.#startedAt)
  }

  #failed(error: unknown): void {
    this.#verdict.failed(error)
    this.#options.onFailure(error)
    this.#conclude(error)
  }

  #conclude(error: unknown): void {
    if (this.#verdict.conclude()) this.#options.onState('offline', error)
    if (this.#verdict.state === 'offline') this.#release(Number.POSITIVE_INFINITY)
  }
}

/** Number of consecutive failures after which an online node is offline. One success makes an offline node online. */
const failuresUntilOffline = 2

/** Determines the state of a node from the results of its polls. */
class HealthVerdict {
  #state: HealthState = 'connecting'
  #failures = 0
  #last: NodeHealth | undefined
  #lastSuccess = Number.NEGATIVE_INFINITY
  #silent = false
  /** Start of the last call without an answer within its deadline, on the clock of `performance.now()`. */
  #unansweredAt = Number.NEGATIVE_INFINITY

  get state(): HealthState {
    return this.#state
  }

  /**
   * Whether the node is offline because it did not answer in time, e.g. a hanging process or an unreachable machine.
   * false if its connection failed.
   */
  get unresponsive(): boolean {
    return this.#state === 'offline' && this.#silent
  }

  /** Whether the last poll failed. */
  get failing(): boolean {
    return this.#failures > 0
  }

  /** Last answer of the node; undefined unless it is online. */
  get last(): NodeHealth | undefined {
    return this.#last
  }

  /** Start of the last successful poll, on the clock of `performance.now()`. */
  get lastSuccess(): number {
    return this.#lastSuccess
  }

  /**
   * Counts a successful poll.
   * @returns whether the state changed
   */
  succeeded(health: NodeHealth, startedAt: number): boolean {
    this.#failures = 0
    this.#last = health
    this.#lastSuccess = startedAt
    const changed = this.#state !== 'online'
    this.#state = 'online'
    return changed
  }

  /** Counts a failed poll. Call `conclude` afterwards. */
  failed(error: unknown): void {
    this.#failures += 1
    this.#silent = error instanceof DeadlineError
  }

  /**
   * Counts a call without an answer within its deadline. Call `conclude` afterwards.
   * @param since start of the call, on the clock of `performance.now()`
   */
  unanswered(since: number): void {
    this.#unansweredAt = Math.max(this.#unansweredAt, since)
  }

  /**
   * Sets the node offline after enough failures. One failed poll is enough if a call was not answered either.
   * @returns whether the state changed
   */
  conclude(): boolean {
    const silence = this.#silent && this.#failures > 0 && this.#unansweredAt > this.#lastSuccess
    const enough = this.#failures >= failuresUntilOffline || silence
    // A node that was never online has no users, so its first failure is enough.
    if (this.#state === 'offline' || (this.#state === 'online' && !enough)) return false
    this.#state = 'offline'
    this.#last = undefined
    return true
  }
}
