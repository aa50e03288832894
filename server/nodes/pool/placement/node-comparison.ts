/**
 * Whether the rooms of a node were compared with the store since it connected. `unknown`: not yet; `first`: the first
 * comparison is in progress; `known`: compared; `again`: another comparison is in progress.
 */
type State = 'unknown' | 'first' | 'known' | 'again'

type Transition = 'begin' | 'succeed' | 'fail' | 'forget'

/** Resulting state of each transition, by the current state; left out: the transition does not apply. */
const transitions: Record<Transition, Partial<Record<State, State>>> = {
  begin: { unknown: 'first', known: 'again' },
  succeed: { first: 'known', again: 'known' },
  fail: { first: 'unknown', again: 'known' },
  forget: { unknown: 'unknown', first: 'unknown', known: 'unknown', again: 'unknown' },
}

/** The comparison of one node's rooms with the store. */
export class NodeComparison {
  #state: State = 'unknown'

  /** Whether the rooms were compared at least once since the node connected. */
  get isKnown(): boolean {
    return this.#state === 'known' || this.#state === 'again'
  }

  /** Begins a comparison. Returns false if a comparison is in progress. */
  begin(): boolean {
    return this.#go('begin')
  }

  /** Ends a comparison after which the rooms match the store. Returns whether it was the first comparison. */
  succeed(): boolean {
    const isFirst = this.#state === 'first'
    this.#go('succeed')
    return isFirst
  }

  /** Ends a comparison without a result. No effect after `succeed`. */
  fail(): void {
    this.#go('fail')
  }

  /** Discards the state: the node was lost, or restarted without rooms. */
  forget(): void {
    this.#go('forget')
  }

  #go(transition: Transition): boolean {
    const next = transitions[transition][this.#state]
    if (next === undefined) return false
    this.#state = next
    return true
  }
}
