import { backoffMs } from '../../shared/backoff.ts'

/** Settings of a ladder, in milliseconds. */
export interface LadderSettings {
  /** The first wait. */
  first: number
  /** Each further wait is twice as long, up to this. */
  longest: number
  /** Time joined after which the backoff starts again, in milliseconds. */
  steady: number
}

/** Waits differ by up to this share, so that devices which failed together do not come back together. */
const jitter = 0.1

/** How long a device waits before its next attempt (contract, section 4): it climbs with each failure in a row, a join that did not last among them. */
export class ReconnectLadder {
  readonly #settings: () => LadderSettings
  readonly #random: () => number
  #failures = 0

  /** @param random 0 to 1, evenly */
  constructor(settings: () => LadderSettings, random: () => number = Math.random) {
    this.#settings = settings
    this.#random = random
  }

  /** Failures in a row. */
  get failures(): number {
    return this.#failures
  }

  /** An attempt failed: milliseconds until the next. */
  failed(): number {
    const { first, longest } = this.#settings()
    this.#failures += 1
    return backoffMs({ first, max: longest, jitter }, this.#failures, this.#random)
  }

  /** It dropped after it was joined for so many milliseconds: milliseconds until the next attempt. */
  dropped(joinedFor: number): number {
    if (joinedFor >= this.#settings().steady) this.#failures = 0
    return this.failed()
  }

  /** Somebody changed something: the first wait comes next. */
  reset(): void {
    this.#failures = 0
  }
}
