import { DeadlineError } from '../../port/deadline.ts'
import type { NodeHealth } from '../../port/media-node-port.ts'
import type { HealthState } from '../state/live-node.ts'

/** Number of failures in a row that make an online node offline; one success makes it online. */
const failuresUntilOffline = 2

/** Judges a node by the outcomes of its polls. */
export class HealthVerdict {
  #state: HealthState = 'connecting'
  #failures = 0
  #last: NodeHealth | undefined
  #lastSuccess = Number.NEGATIVE_INFINITY
  #silent = false
  /** Begin of a call that was not answered within its deadline, on the clock of `performance.now()`. */
  #unansweredAt = Number.NEGATIVE_INFINITY

  get state(): HealthState {
    return this.#state
  }

  /** The node is offline because it does not answer, rather than gone: a process that hangs, a machine that fell silent. */
  get unresponsive(): boolean {
    return this.#state === 'offline' && this.#silent
  }

  /** The last poll failed. */
  get failing(): boolean {
    return this.#failures > 0
  }

  /** Last answer while online. */
  get last(): NodeHealth | undefined {
    return this.#last
  }

  /** Begin of the last successful poll, on the clock of `performance.now()`. */
  get lastSuccess(): number {
    return this.#lastSuccess
  }

  /** Counts a poll that succeeded. @returns whether the state changed */
  succeeded(health: NodeHealth, startedAt: number): boolean {
    this.#failures = 0
    this.#last = health
    this.#lastSuccess = startedAt
    const changed = this.#state !== 'online'
    this.#state = 'online'
    return changed
  }

  /** Counts a poll that failed; `conclude` says what follows from it. */
  failed(error: unknown): void {
    this.#failures += 1
    this.#silent = error instanceof DeadlineError
  }

  /** Counts a call that was not answered within its deadline; `conclude` says what follows from it. @param since its begin, on the clock of `performance.now()` */
  unanswered(since: number): void {
    this.#unansweredAt = Math.max(this.#unansweredAt, since)
  }

  /** Takes the node offline where enough polls have failed: one is enough when a call was not answered either. @returns whether the state changed */
  conclude(): boolean {
    const silence = this.#silent && this.#failures > 0 && this.#unansweredAt > this.#lastSuccess
    const enough = this.#failures >= failuresUntilOffline || silence
    // A node that was never seen online has nothing to lose: its first failure tells.
    if (this.#state === 'offline' || (this.#state === 'online' && !enough)) return false
    this.#state = 'offline'
    this.#last = undefined
    return true
  }
}
