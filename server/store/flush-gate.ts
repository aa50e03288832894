/** Flushes are held back. */
export interface ClosedGate {
  /** Since when, by `monotonic()`. */
  readonly since: number
  /** Resolves when flushes may start again. */
  readonly opened: Promise<void>
}

/** Gate that each flush passes before it starts. */
export interface FlushGate {
  /** Undefined: flushes may start. */
  readonly closed: ClosedGate | undefined
}
