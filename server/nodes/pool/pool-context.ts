import type { PlacementContext } from './placement-context.ts'
import type { PoolNode } from './pool-node.ts'

/** State that the parts of the node pool share. */
export interface PoolContext extends PlacementContext {
  /** Enabled nodes by name. */
  live: Map<string, PoolNode>
}
