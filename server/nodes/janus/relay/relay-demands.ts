import { unlessAborted } from '../../../../shared/abort.ts'

/** A user's wish to watch a stream on a node. */
export interface RelayWish {
  node: string
  /** Left out: everything in the room, also what comes later. */
  stream?: string
}

/** Somebody waits for a stream to be on their node. */
interface Waiting {
  wish: StreamWish
  resolve: (feed: string) => void
}

/** A wish for one stream. */
export type StreamWish = RelayWish & { stream: string }

/** Those who want the same on the same node. */
interface Demand {
  wish: RelayWish
  watchers: number
  /** While nobody does any more. */
  grace: NodeJS.Timeout | undefined
}

/** Wishes for the streams of one room by node; a wish counts for a while after its last owner took it back. */
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

  /** Returns what takes it back; to be called once or more. */
  add(wish: RelayWish): () => void {
    const key = JSON.stringify([wish.node, wish.stream])
    const demand = this.#demands.get(key) ?? { wish, watchers: 0, grace: undefined }
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

  /** Somebody is taken to want it, so many milliseconds long. */
  hold(wish: RelayWish, milliseconds: number): void {
    const takeBack = this.add(wish)
    const timer = setTimeout(() => {
      this.#held.delete(timer)
      takeBack()
    }, milliseconds).unref()
    this.#held.add(timer)
  }

  /** Participant that publishes a stream on a node; resolves when `meet` finds one. @throws the signal's reason */
  async met(wish: StreamWish, signal: AbortSignal): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>()
    const waiting = { wish, resolve }
    this.#waiting.add(waiting)
    try {
      return await unlessAborted(promise, signal)
    } finally {
      this.#waiting.delete(waiting)
    }
  }

  /** Gives waiting callers the participants that publish their streams now. */
  meet(feedOf: (wish: StreamWish) => string | undefined): void {
    for (const { wish, resolve } of this.#waiting) {
      const feed = feedOf(wish)
      if (feed !== undefined) resolve(feed)
    }
  }

  /** Nodes on which each stream is watched. */
  watched(streams: readonly string[]): Map<string, Set<string>> {
    const watched = new Map<string, Set<string>>()
    for (const { wish } of this.#demands.values()) {
      for (const stream of wish.stream === undefined ? streams : [wish.stream]) {
        watched.set(stream, (watched.get(stream) ?? new Set()).add(wish.node))
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
