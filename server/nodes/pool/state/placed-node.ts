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
  ask<T>(
    milliseconds: number,
    signal: AbortSignal | undefined,
    run: (driver: MediaNode, signal: AbortSignal) => Promise<T>,
  ): Promise<T>
}

/** How long a caller waits. */
export interface PlacementWait {
  /** On the clock of `performance.now()`. */
  until: number
  signal?: AbortSignal | undefined
}
