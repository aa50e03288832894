import type { StoredNode } from '../../store/records.ts'
import type { NodeEvent } from '../port/media-node-port.ts'
import { guarded, type NodeLogger } from '../port/node-failure.ts'

export interface NodeClaim {
  node: StoredNode
  listeners: Set<(event: NodeEvent) => void>
}

/** Nodes that need the same process, in the order of their claims. The process serves the first node. */
export class NodeClaims {
  readonly #logger: NodeLogger
  readonly #claims: NodeClaim[] = []
  readonly #changes = new Set<() => void>()
  #pageFor: StoredNode | undefined

  constructor(logger: NodeLogger) {
    this.#logger = logger
  }

  /** Node that the process serves. If no node needs the process, the node for which only the room page is served. */
  get served(): StoredNode | undefined {
    return this.#claims[0]?.node ?? this.#pageFor
  }

  /** Calls the listener when a node starts or stops needing the process. Returns the unsubscribe function. */
  onChange(listener: () => void): () => void {
    this.#changes.add(listener)
    return () => this.#changes.delete(listener)
  }

  add(node: StoredNode): NodeClaim {
    const claim: NodeClaim = { node, listeners: new Set() }
    this.#claims.push(claim)
    this.#changed()
    return claim
  }

  /** Removes a claim. Returns false if it was removed before. */
  remove(claim: NodeClaim): boolean {
    const index = this.#claims.indexOf(claim)
    if (index === -1) return false
    this.#claims.splice(index, 1)
    this.#changed()
    return true
  }

  /** Sets the node for which only the room page is served; undefined: none. Returns whether it has changed. */
  showPageFor(node: StoredNode | undefined): boolean {
    if (this.#pageFor?.name === node?.name) return false
    this.#pageFor = node
    this.#changed()
    return true
  }

  /** Passes an event to the listeners of a node. */
  emit(name: string, event: NodeEvent): void {
    for (const { node, listeners } of this.#claims) {
      if (node.name === name) for (const listener of listeners) this.#guarded(() => listener(event))
    }
  }

  #changed(): void {
    for (const listener of this.#changes) this.#guarded(listener)
  }

  #guarded(run: () => void): void {
    guarded(this.#logger, 'a listener of the embedded node failed', run)
  }
}
