import { DeadlineError } from '../../port/deadline.ts'
import type { NodeHealth } from '../../port/media-node-port.ts'
import type { HealthState } from '../state/live-node.ts'

/** Number of consecutive failures after which an online node is offline. One success makes an offline node online. */
const failuresUntilOffline = 2

/** Determines the state of a node from the results of its polls. */
export class HealthVerdict {
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
