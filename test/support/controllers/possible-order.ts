/** A call as the search sees it. */
export interface TimedCall {
  start: number
  /** Infinity: it may apply at any later time, or not at all. */
  end: number
}

/** How calls change a state. */
export interface Model<C extends TimedCall, S> {
  readonly begin: S
  /** @returns the state after the call, or undefined if it cannot have happened in this state */
  after(state: S, call: C): S | undefined
  name(state: S): string
}

/** Maximum number of beginnings of an order to try: a history that needs more is too tangled to judge. */
const maxBeginnings = 500_000

/** Result of a search: an order, or the call at which the best beginning of one ended. */
export type Found<C, S> = { order: true } | { order: false; stuck: C; state: S; undecided: boolean }

/**
 * Searches for an order of the calls, one after the other, that explains every answer and keeps each call between its start and its end
 * (linearizability; the search is that of Wing and Gong, with Lowe's memory of visited configurations).
 */
export function findOrder<C extends TimedCall, S>(given: readonly C[], model: Model<C, S>): Found<C, S> {
  const calls = given.toSorted((one, other) => one.start - other.start)
  const needed = calls.filter(({ end }) => end !== Infinity).length
  const seen = new Set<string>()
  const best = { done: -1, call: calls[0], state: model.begin }
  const stack: Beginning<S>[] = [{ done: 0n, needed: 0, first: 0, state: model.begin }]
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    if (at.needed === needed) return { order: true }
    if (seen.size > maxBeginnings) break
    const next = following(calls, at, model)
    if (next.refused !== undefined && at.needed > best.done)
      Object.assign(best, { done: at.needed, call: next.refused, state: at.state })
    for (const beginning of next.beginnings) {
      const name = `${beginning.done.toString(36)}/${model.name(beginning.state)}`
      if (seen.has(name)) continue
      seen.add(name)
      stack.push(beginning)
    }
  }
  const { call: stuck, state } = best
  if (stuck === undefined) return { order: true }
  return { order: false, stuck, state, undecided: seen.size > maxBeginnings }
}

/** Calls that happened, as a set of bits, and the state after them. */
interface Beginning<S> {
  done: bigint
  /** Number of those calls that certainly happened. */
  needed: number
  /** The first call that is not among them. */
  first: number
  state: S
}

/** Lists the calls that may come next. A certain call without effect on the state, such as a read, comes first: taking it rules out no other order. */
function following<C extends TimedCall, S>(
  calls: readonly C[],
  at: Beginning<S>,
  model: Model<C, S>,
): { beginnings: Beginning<S>[]; refused?: C } {
  const beginnings: Beginning<S>[] = []
  let refused: C | undefined
  const before = model.name(at.state)
  for (const index of candidates(calls, at)) {
    const call = calls[index]
    if (call === undefined) continue
    const state = model.after(at.state, call)
    if (state === undefined) {
      if (call.end !== Infinity) refused ??= call
      continue
    }
    const beginning = withCall(at, index, call, state)
    if (call.end !== Infinity && model.name(state) === before) return { beginnings: [beginning] }
    beginnings.push(beginning)
  }
  // Explores the last one first: answered calls before those that may not have happened.
  return { beginnings: beginnings.reverse(), ...(refused === undefined ? {} : { refused }) }
}

function withCall<S>(at: Beginning<S>, index: number, { end }: TimedCall, state: S): Beginning<S> {
  const done = at.done | (1n << BigInt(index))
  let { first } = at
  while ((done >> BigInt(first)) & 1n) first++
  return { done, needed: at.needed + (end === Infinity ? 0 : 1), first, state }
}

/** Finds the calls that may come next: they began before the end of every other remaining call. */
function candidates(calls: readonly TimedCall[], { done, first }: Beginning<unknown>): number[] {
  const left: number[] = []
  let soonest = Infinity
  for (let index = first; index < calls.length; index++) {
    const call = calls[index]
    if (call === undefined || call.start > soonest) break
    if ((done >> BigInt(index)) & 1n) continue
    left.push(index)
    soonest = Math.min(soonest, call.end)
  }
  return left
    .filter((index) => (calls[index]?.start ?? Infinity) <= soonest)
    .sort((one, other) => (calls[one]?.end ?? 0) - (calls[other]?.end ?? 0))
}
