/** How the waits between attempts of something that keeps failing grow. */
export interface Backoff {
  /** The wait after the first failure, in milliseconds. */
  first: number
  /** Upper bound of every wait, in milliseconds. */
  max: number
  /** Each further wait is this many times as long. Default: 2. */
  factor?: number
  /** Share by which a wait differs at random, 0 to 1, so that what failed together is not tried again together. Default: 0. */
  jitter?: number
  /** How many waits in a row have the same length. Default: 1. */
  repeat?: number
}

/** Failures beyond this make no wait longer: a power of it is still a finite number. */
const maxFailures = 1_000

/**
 * Wait before the next attempt, in milliseconds. Jitter makes a growing wait longer, and one at the upper bound shorter, so that it is never exceeded.
 * @param failures how many attempts in a row have failed; 0 and 1 give the first wait
 * @param random 0 to 1, evenly
 */
export function backoffMs(
  { first, max, factor = 2, jitter = 0, repeat = 1 }: Backoff,
  failures: number,
  random: () => number = Math.random,
): number {
  const steps = Math.floor((Math.min(Math.max(failures, 1), maxFailures) - 1) / repeat)
  const wait = Math.min(max, first * factor ** steps)
  if (jitter === 0) return wait
  const part = jitter * random()
  return Math.round(wait < max ? Math.min(max, wait * (1 + part)) : wait * (1 - part))
}
