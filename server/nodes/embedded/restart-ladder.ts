import { type Backoff, backoffMs } from '../../../shared/backoff.ts'

/**
 * Waits after a process ended that had run, by how many of them in a row did not run for long. People and cameras are to be back 5 s after a crash, also
 * after the fifth within a minute. A start, the rooms and the cameras take up to two of them: so no wait is longer than three, and a start every three seconds harms nobody.
 */
const crashBackoff: Backoff = { first: 1_000, max: 3_000, repeat: 2 }
/** Waits after a start that failed: nobody gains by many of them. */
const startBackoff: Backoff = { first: 1_000, max: 30_000 }
/** A process that ran for so long is well; milliseconds. */
const wellAfterMs = 15_000

/** How long the media process is left alone before it is started again. */
export class RestartLadder {
  #crashes = 0
  #failedStarts = 0

  /** It answers. */
  started(): void {
    this.#failedStarts = 0
  }

  /** It ended after it had run for so many milliseconds: milliseconds until the next start. */
  crashed(ranFor: number): number {
    if (ranFor > wellAfterMs) this.#crashes = 0
    this.#crashes += 1
    return backoffMs(crashBackoff, this.#crashes)
  }

  /** It did not get to answer: milliseconds until the next start. */
  startFailed(): number {
    this.#failedStarts += 1
    return backoffMs(startBackoff, this.#failedStarts)
  }
}
