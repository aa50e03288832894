/** A stream that one node relays to another node. */
export interface RelayStep {
  stream: string
  from: string
  to: string
}

/** Facts from which the relays of one room are planned. */
export interface RelayDemand {
  /** Node on which each stream is published. */
  origins: ReadonlyMap<string, string>
  /** Nodes on which each stream is watched. */
  watched: ReadonlyMap<string, ReadonlySet<string>>
  /** Nodes that answer. */
  up: ReadonlySet<string>
  /** Maximum number of nodes to which one node relays the same stream, at least 1. */
  fanOut: number
}

/**
 * Plans which node relays which stream to which node. Each node with viewers of a stream receives the stream once, from
 * the publisher's node or from another receiving node. Each tree has the minimum depth for its number of nodes and the
 * fan-out. Existing relays are kept where possible: adding a node moves no other node. Removing a node moves only the
 * nodes that it fed, unless the tree becomes too deep.
 * @param present current relays
 */
export function planRelays(demand: RelayDemand, present: readonly RelayStep[]): RelayStep[] {
  const fedBefore = new Map<string, Map<string, string>>()
  for (const { stream, from, to } of present) {
    const feeders = fedBefore.get(stream) ?? new Map<string, string>()
    if (!feeders.has(to)) fedBefore.set(stream, feeders.set(to, from))
  }
  const load = new Map<string, number>()
  const steps: RelayStep[] = []
  for (const [stream, origin] of demand.origins) {
    if (!demand.up.has(origin)) continue
    const nodes = [...(demand.watched.get(stream) ?? [])].filter((node) => node !== origin && demand.up.has(node))
    if (nodes.length === 0) continue
    const tree = new RelayTree(origin, nodes, { fanOut: demand.fanOut, before: fedBefore.get(stream), load })
    steps.push(...tree.steps().map(({ from, to }) => ({ stream, from, to })))
  }
  return steps
}

/**
 * Returns the minimum depth of a tree with this number of nodes below its root, if each node has at most `fanOut`
 * children.
 */
export function minDepth(nodes: number, fanOut: number): number {
  let depth = 0
  for (let places = 0, level = fanOut; places < nodes; level *= fanOut) {
    places += level
    depth += 1
  }
  return depth
}

/** Values for the tree of one stream. */
interface TreeOptions {
  fanOut: number
  /** Previous source node of each node. */
  before: ReadonlyMap<string, string> | undefined
  /** Number of relays from each node, over all streams; updated here. */
  load: Map<string, number>
}

class RelayTree {
  readonly #fanOut: number
  readonly #deepest: number
  readonly #load: Map<string, number>
  /** Nodes of the new tree, by the node that fed them before. */
  readonly #fedBefore = new Map<string, string[]>()
  /** Nodes without a place in the tree yet. */
  readonly #waiting: Set<string>
  /** Depth of each placed node, in the order of placement. */
  readonly #depths = new Map<string, number>()
  readonly #feeders = new Map<string, string>()
  readonly #feeds = new Map<string, number>()

  constructor(origin: string, nodes: readonly string[], { fanOut, before, load }: TreeOptions) {
    this.#fanOut = fanOut
    this.#deepest = minDepth(nodes.length, fanOut)
    this.#load = load
    this.#waiting = new Set(nodes)
    this.#depths.set(origin, 0)
    for (const node of nodes) {
      const feeder = before?.get(node)
      if (feeder === undefined || feeder === node) continue
      this.#fedBefore.set(feeder, [...(this.#fedBefore.get(feeder) ?? []), node])
    }
    this.#keepBelow(origin)
    while (this.#waiting.size > 0) this.#placeNext()
  }

  steps(): { from: string; to: string }[] {
    return Array.from(this.#feeders, ([to, from]) => ({ from, to }))
  }

  /**
   * Keeps a node's former targets below the node while the node has capacity. The target with the largest subtree comes
   * first.
   */
  #keepBelow(top: string): void {
    const level = [top]
    for (let node = level.shift(); node !== undefined; node = level.shift()) {
      const fed = (this.#fedBefore.get(node) ?? []).filter((one) => this.#waiting.has(one))
      fed.sort((one, other) => this.#below(other).size - this.#below(one).size)
      for (const one of fed) {
        if (!this.#hasPlace(node)) break
        this.#place(one, node)
        level.push(one)
      }
    }
  }

  /**
   * Places the waiting node with the deepest subtree at the least deep free place, with its subtree. Among nodes
   * without a subtree, the node that feeds the fewest others comes first, because it may get children.
   */
  #placeNext(): void {
    let next: { node: string; height: number; size: number; load: number } | undefined
    for (const node of this.#waiting) {
      const one = { node, ...this.#below(node), load: this.#load.get(node) ?? 0 }
      const order = next === undefined ? 1 : one.height - next.height || one.size - next.size || next.load - one.load
      if (order > 0) next = one
    }
    let feeder: string | undefined
    for (const node of this.#depths.keys()) {
      if (!this.#hasPlace(node)) continue
      if (feeder === undefined || this.#comesBefore(node, feeder)) feeder = node
    }
    // Cannot happen: `minDepth` provides at least as many places as nodes.
    if (next === undefined || feeder === undefined) throw new Error('a relay tree is too small for its nodes')
    this.#place(next.node, feeder)
    this.#keepBelow(next.node)
  }

  /** Prefers the less deep node, then the node that feeds fewer others. */
  #comesBefore(one: string, other: string): boolean {
    const depth = this.#depthOf(one) - this.#depthOf(other)
    return depth < 0 || (depth === 0 && (this.#load.get(one) ?? 0) < (this.#load.get(other) ?? 0))
  }

  #hasPlace(node: string): boolean {
    return (this.#feeds.get(node) ?? 0) < this.#fanOut && this.#depthOf(node) < this.#deepest
  }

  #place(node: string, feeder: string): void {
    this.#waiting.delete(node)
    this.#feeders.set(node, feeder)
    this.#depths.set(node, this.#depthOf(feeder) + 1)
    this.#feeds.set(feeder, (this.#feeds.get(feeder) ?? 0) + 1)
    this.#load.set(feeder, (this.#load.get(feeder) ?? 0) + 1)
  }

  #depthOf(node: string): number {
    return this.#depths.get(node) ?? 0
  }

  /** Returns the height and size of the former subtree of a node, counting only waiting nodes. */
  #below(node: string, seen = new Set([node])): { height: number; size: number } {
    let height = 0
    let size = 0
    for (const one of this.#fedBefore.get(node) ?? []) {
      if (!this.#waiting.has(one) || seen.has(one)) continue
      seen.add(one)
      const subtree = this.#below(one, seen)
      height = Math.max(height, subtree.height + 1)
      size += subtree.size + 1
    }
    return { height, size }
  }
}
