import type { NodeLogger } from '../../port/node-failure.ts'

/** What a test of a node works with. */
export interface InspectionContext {
  logger: NodeLogger
  /** Milliseconds since the epoch. */
  clock: () => number
  /** Whether the node tells of a room before the signal aborts; never rejects. Left out: events cannot reach this controller. */
  events?: ((room: string, signal: AbortSignal) => Promise<boolean>) | undefined
}
