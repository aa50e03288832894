import type { Deadline } from '../../../../shared/deadline.ts'
import type { MediaNode } from '../../port/media-node-port.ts'

/** Needs of placement from its node. */
export interface PlacedNode {
  readonly name: string
  readonly online: boolean
  /** It goes out of service: no room is to be on it any more. */
  readonly leaving: boolean
  /** It went on while the controller was away: it holds what the store says, unless it was lost meanwhile. */
  readonly resumes: boolean
  /** @throws DeadlineError, NodeError, the signal's reason */
  ask<T>(deadline: Deadline, run: (driver: MediaNode, signal: AbortSignal) => Promise<T>): Promise<T>
}
