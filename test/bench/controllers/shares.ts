/** Percentiles 50, 95 and 99 of the measured values, and their maximum. */
export interface Shares {
  p50: number
  p95: number
  p99: number
  most: number
}

/** @param values at least one */
export function shares(values: readonly number[]): Shares {
  const sorted = values.toSorted((one, other) => one - other)
  const below = (share: number): number => Math.round(sorted[Math.ceil(sorted.length * share) - 1] ?? NaN)
  return { p50: below(0.5), p95: below(0.95), p99: below(0.99), most: below(1) }
}
