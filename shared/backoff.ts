/** Growth of the delays between attempts. */
export interface Backoff {
  /** Delay after the first failure, in milliseconds. */
  first: number
  /** Maximum delay, in milliseconds. */
  max: number
  /** Factor by which the delay grows. Default: 2. */
  factor?: number
  /** Share of random jitter, 0 to 1. Jitter prevents simultaneous retries after simultaneous failures. Default: 0. */
  jitter?: number
  /** Number of consecutive delays of the same length. Default: 1. */
  repeat?: number
}

/** Maximum number of failures that increase the delay; keeps the result of the exponentiation finite. */
const maxFailures = 1_000

/**
 * Returns the delay before the next attempt, in milliseconds. Jitter extends a growing delay and shortens the maximum
 * delay, so that the maximum is never exceeded.
 * @param failures number of consecutive failures; 0 and 1 give the first delay
 * @param random returns a uniform random number, 0 to 1
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
