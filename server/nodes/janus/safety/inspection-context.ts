import type { NodeLogger } from '../../port/node-failure.ts'

export interface InspectionContext {
  logger: NodeLogger
  /** Returns milliseconds since the epoch. */
  clock: () => number
  /**
   * Resolves to whether the node sends an event about a room before the signal aborts; never rejects. Left out: events
   * cannot reach this controller.
   */
  events?: ((room: string, signal: AbortSignal) => Promise<boolean>) | undefined
}
