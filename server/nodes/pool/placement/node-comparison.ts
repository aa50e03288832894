/**
 * Whether the rooms of a node were compared with the store since it was (re)connected. `unknown`: not yet; `first`: the first comparison is under way; `known`: they were;
 * `again`: they were, and are compared once more.
 */
type State = 'unknown' | 'first' | 'known' | 'again'

type Transition = 'begin' | 'succeed' | 'fail' | 'forget'

/** States that each transition leads to; left out: it does not apply. */
const transitions: Record<Transition, Partial<Record<State, State>>> = {
  begin: { unknown: 'first', known: 'again' },
  succeed: { first: 'known', again: 'known' },
  fail: { first: 'unknown', again: 'known' },
  forget: { unknown: 'unknown', first: 'unknown', known: 'unknown', again: 'unknown' },
}

/** The comparison of one node's rooms with the store. */
export class NodeComparison {
  #state: State = 'unknown'

  /** The rooms were compared at least once since the node was connected. */
  get isKnown(): boolean {
    return this.#state === 'known' || this.#state === 'again'
  }

  /** Begins a comparison. Returns false while one is under way. */
  begin(): boolean {
    return this.#go('begin')
  }

  /** The rooms are as the store says. Returns whether that was unknown before. */
  succeed(): boolean {
    const isFirst = this.#state === 'first'
    this.#go('succeed')
    return isFirst
  }

  /** It did not come to an end. No effect after `succeed`. */
  fail(): void {
    this.#go('fail')
  }

  /** The node was lost, or came back empty. */
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
