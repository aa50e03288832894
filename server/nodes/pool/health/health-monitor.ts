import type { Settings } from '../../../../shared/settings.ts'
import { DeadlineError, within } from '../../port/deadline.ts'
import type { NodeHealth } from '../../port/media-node-port.ts'
import type { HealthState, LiveHealth } from '../state/live-node.ts'

/** So many failures in a row make an online node offline; one success makes it online. */
const failuresUntilOffline = 2

/** What a health monitor needs and whom it tells. */
export interface HealthMonitorOptions {
  /** Asks the node once. */
  ask: (signal: AbortSignal) => Promise<NodeHealth>
  deadlines: () => Settings['deadlines']
  /** The state changed; `error` is what the last poll failed with. */
  onState: (state: HealthState, error: unknown) => void
  /** A poll succeeded; called after onState. */
  onHealthy: () => void
  onFailure: (error: unknown) => void
}

/**
 * Polls one node: at once, then from time to time, and sooner when something looks wrong. Its timers do not hold the process.
 * Large because what the last poll found, the count of failures and the timer of the next poll change together.
 */
export class HealthMonitor implements LiveHealth {
  readonly #options: HealthMonitorOptions
  readonly #stopper = new AbortController()
  #state: HealthState = 'connecting'
  #failures = 0
  #polling = false
  #pollAgain = false
  #startedAt = 0
  #last: NodeHealth | undefined
  #lastSuccess = Number.NEGATIVE_INFINITY
  #silent = false
  #timer: NodeJS.Timeout | undefined

  constructor(options: HealthMonitorOptions) {
    this.#options = options
  }

  get state(): HealthState {
    return this.#state
  }

  /** It is offline because it does not answer, rather than gone: a process that hangs, a machine that fell silent. */
  get unresponsive(): boolean {
    return this.#state === 'offline' && this.#silent
  }

  /** The last poll failed. */
  get failing(): boolean {
    return this.#failures > 0
  }

  /** What the node answered last while online. */
  get last(): NodeHealth | undefined {
    return this.#last
  }

  /** When a successful poll last began, on the clock of `performance.now()`. */
  get lastSuccess(): number {
    return this.#lastSuccess
  }

  /** Begins to poll; resolves when the first poll has ended or its deadline has passed. */
  start(): Promise<void> {
    return this.#poll()
  }

  /** Something looks wrong: polls at once, or once more after the poll under way. A flood of calls does not become a flood of polls. */
  pollSoon(): void {
    if (this.#stopper.signal.aborted) return
    if (this.#polling) {
      this.#pollAgain = true
      return
    }
    this.#schedule(this.#shortestGap() - (performance.now() - this.#startedAt))
  }

  stop(): void {
    this.#stopper.abort(new Error('the health monitor was stopped'))
    clearTimeout(this.#timer)
  }

  #shortestGap(): number {
    return this.#options.deadlines().health_interval_ms / 8
  }

  #schedule(milliseconds: number): void {
    clearTimeout(this.#timer)
    if (this.#stopper.signal.aborted) return
    this.#timer = setTimeout(() => void this.#poll(), Math.max(0, milliseconds))
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
      this.#last = health
      this.#succeeded()
    } catch (error) {
      if (this.#stopper.signal.aborted) return
      this.#failed(error)
    } finally {
      this.#polling = false
      const unsure = this.#state === 'online' && this.#failures > 0
      if (this.#pollAgain) this.#schedule(this.#shortestGap() - (performance.now() - this.#startedAt))
      else this.#schedule(unsure ? health_interval_ms / 4 : health_interval_ms)
    }
  }

  #succeeded(): void {
    this.#failures = 0
    this.#lastSuccess = this.#startedAt
    if (this.#state !== 'online') {
      this.#state = 'online'
      this.#options.onState('online', undefined)
    }
    this.#options.onHealthy()
  }

  #failed(error: unknown): void {
    this.#failures += 1
    this.#silent = error instanceof DeadlineError
    this.#options.onFailure(error)
    // A node that was never seen online has nothing to lose: its first failure tells.
    if (this.#state === 'offline' || (this.#state === 'online' && this.#failures < failuresUntilOffline)) return
    this.#state = 'offline'
    this.#last = undefined
    this.#options.onState('offline', error)
  }
}
