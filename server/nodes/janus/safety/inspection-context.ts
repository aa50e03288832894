import type { NodeLogger } from '../../port/node-failure.ts'

/** Needs of a test of a node. */
export interface InspectionContext {
  logger: NodeLogger
  /** Milliseconds since the epoch. */
  clock: () => number
  /** Whether the node sends an event about a room before the signal aborts; never rejects. Left out: events cannot reach this controller. */
  events?: ((room: string, signal: AbortSignal) => Promise<boolean>) | undefined
}
