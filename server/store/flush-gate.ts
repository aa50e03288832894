/** State of the gate while flushes are blocked. */
export interface ClosedGate {
  /** Start of the blocking, by `monotonic()`. */
  readonly since: number
  /** Resolves when flushes may start again. */
  readonly opened: Promise<void>
}

/** Gate that each flush passes before it starts. */
export interface FlushGate {
  /** State while flushes are blocked; undefined: flushes may start. */
  readonly closed: ClosedGate | undefined
}
