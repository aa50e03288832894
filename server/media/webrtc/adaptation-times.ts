/** Feedback in the first moments after a change is of what was sent before, in milliseconds. */
export const settleMs = 1_200
/** Wait from a change to the first probe, in milliseconds. */
const firstWaitMs = 1_500
/** Growth of the wait after each failed probe, and its limit in milliseconds: what is sent in vain costs sound. */
const growth = 1.6
const maxAfterFailureMs = 2_500
/** Limit of the wait after returns that did not last, which doubles each time, in milliseconds. */
const maxWaitMs = 60_000
/** Duration of a return that lasted, in milliseconds. */
const lastedMs = 15_000

/** When a viewer's link was changed and probed last, and when it may be probed again. Times are milliseconds of a clock that never goes back. */
export class AdaptationTimes {
  #changedAt = -Infinity
  #probedAt = -Infinity
  /** Wait since the last change or probe, and the shortest wait that applies now. */
  #wait = firstWaitMs
  #minWait = firstWaitMs

  /** Notes that something else is sent. */
  changed(now: number): void {
    this.#changedAt = now
  }

  /** Notes that everything was sent and the link does not carry it: each return that did not last doubles the wait. */
  returnFailed(now: number): void {
    this.#minWait = now - this.#changedAt < lastedMs ? Math.min(maxWaitMs, this.#minWait * 2) : firstWaitMs
    this.#wait = this.#minWait
  }

  /** Notes the end of a probe. */
  probed(now: number, carries: boolean): void {
    this.#probedAt = now
    if (!carries) this.#wait = Math.max(this.#minWait, Math.min(maxAfterFailureMs, this.#wait * growth))
  }

  /** Whether feedback is of what is sent now. */
  isSettled(now: number): boolean {
    return now - this.#changedAt >= settleMs
  }

  mayProbe(now: number): boolean {
    return now - Math.max(this.#changedAt, this.#probedAt) >= this.#wait
  }
}
