import type { Deadline } from '../../../../shared/deadline.ts'
import type { MediaNode } from '../../port/media-node-port.ts'

/** Operations of a node that placement uses. */
export interface PlacedNode {
  readonly name: string
  readonly online: boolean
  /** Whether the node is going out of service, and should no longer hold any room. */
  readonly leaving: boolean
  /**
   * Whether the node continued while the controller was down. It then holds the stored rooms, unless it was lost
   * meanwhile.
   */
  readonly resumes: boolean
  /**
   * Makes one call to the driver.
   * @throws DeadlineError, NodeError, the signal's reason
   */
  ask<T>(deadline: Deadline, run: (driver: MediaNode, signal: AbortSignal) => Promise<T>): Promise<T>
}
