import { unlessAborted } from '../../../../shared/abort.ts'

/** Demand for a stream on a node. */
export interface RelayRequest {
  node: string
  /** Id of the stream; left out: all streams of the room, including later streams. */
  stream?: string
}

/** A caller that waits until a stream is available on a node. */
interface Waiting {
  request: StreamRequest
  resolve: (feed: string) => void
}

/** Demand for a single stream. */
export type StreamRequest = RelayRequest & { stream: string }

/** All watchers of the same stream on the same node. */
interface Demand {
  request: RelayRequest
  watchers: number
  /** Timer that removes the demand; set while there are no watchers. */
  grace: NodeJS.Timeout | undefined
}

/**
 * Demands for the streams of one room, by node. A demand remains for a grace period after its last watcher was removed.
 */
export class RelayDemands {
  readonly #graceMs: number
  readonly #changed: () => void
  readonly #demands = new Map<string, Demand>()
  readonly #held = new Set<NodeJS.Timeout>()
  readonly #waiting = new Set<Waiting>()

  constructor(graceMs: number, changed: () => void) {
    this.#graceMs = graceMs
    this.#changed = changed
  }

  get isEmpty(): boolean {
    return this.#demands.size === 0
  }

  /** Adds a watcher. Returns a function that removes the watcher; repeated calls have no further effect. */
  add(request: RelayRequest): () => void {
    const key = JSON.stringify([request.node, request.stream])
    const demand = this.#demands.get(key) ?? { request, watchers: 0, grace: undefined }
    this.#demands.set(key, demand)
    clearTimeout(demand.grace)
    demand.watchers += 1
    if (demand.watchers === 1) this.#changed()
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      demand.watchers -= 1
      if (demand.watchers > 0) return
      demand.grace = setTimeout(() => {
        this.#demands.delete(key)
        this.#changed()
      }, this.#graceMs).unref()
    }
  }

  /** Adds a watcher for a limited time, in milliseconds. */
  hold(request: RelayRequest, milliseconds: number): void {
    const takeBack = this.add(request)
    const timer = setTimeout(() => {
      this.#held.delete(timer)
      takeBack()
    }, milliseconds).unref()
    this.#held.add(timer)
  }

  /**
   * Returns the participant that publishes a stream on a node. Waits until `meet` finds one.
   * @throws the signal's reason
   */
  async met(request: StreamRequest, signal: AbortSignal): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>()
    const waiting = { request, resolve }
    this.#waiting.add(waiting)
    try {
      return await unlessAborted(promise, signal)
    } finally {
      this.#waiting.delete(waiting)
    }
  }

  /** Resolves pending calls of `met` whose streams are published now. */
  meet(feedOf: (request: StreamRequest) => string | undefined): void {
    for (const { request, resolve } of this.#waiting) {
      const feed = feedOf(request)
      if (feed !== undefined) resolve(feed)
    }
  }

  /** Returns the nodes on which each stream is watched. */
  watched(streams: readonly string[]): Map<string, Set<string>> {
    const watched = new Map<string, Set<string>>()
    for (const { request } of this.#demands.values()) {
      for (const stream of request.stream === undefined ? streams : [request.stream]) {
        watched.set(stream, (watched.get(stream) ?? new Set()).add(request.node))
      }
    }
    return watched
  }

  close(): void {
    for (const timer of [...this.#held, ...Array.from(this.#demands.values(), ({ grace }) => grace)])
      clearTimeout(timer)
    this.#demands.clear()
  }
}
