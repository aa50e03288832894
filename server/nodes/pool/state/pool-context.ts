import type { PlacementContext } from './placement-context.ts'
import type { LiveNode } from './live-node.ts'

/** State that the parts of the node pool share. */
export interface PoolContext extends PlacementContext {
  /** Enabled nodes by name. */
  live: Map<string, LiveNode>
}
