import { DeadlineError } from '../../port/deadline.ts'
import { NodeConnectionError, NodeError } from '../../port/media-node-port.ts'
import { describeFailure, type NodeLogger } from '../../port/node-failure.ts'

/** Rooms of one node to be checked now, or after the node's next successful poll. */
export class RoomsToCheck {
  /** Rooms to be checked now, in the order of arrival. A room is in at most one of `#due` and `#afterPoll`. */
  readonly #due = new Set<string>()
  readonly #afterPoll = new Set<string>()

  get hasDue(): boolean {
    return this.#due.size > 0
  }

  /** Marks the room to be checked now. */
  markDue(roomId: string): void {
    this.#afterPoll.delete(roomId)
    this.#due.add(roomId)
  }

  /** Marks the room to be checked after the next successful poll, unless the room is already due. */
  markForPoll(roomId: string): void {
    if (!this.#due.has(roomId)) this.#afterPoll.add(roomId)
  }

  /** Makes all rooms due after a successful poll. */
  polled(): void {
    for (const roomId of this.#afterPoll) this.#due.add(roomId)
    this.#afterPoll.clear()
  }

  /** Removes and returns the next due room. */
  take(): string | undefined {
    const [next] = this.#due
    if (next !== undefined) this.#due.delete(next)
    return next
  }

  clear(): void {
    this.#due.clear()
    this.#afterPoll.clear()
  }
}

/**
 * Whether the rooms of a node were compared with the store since it connected. `unknown`: not yet; `first`: the first
 * comparison is in progress; `known`: compared; `again`: another comparison is in progress.
 */
type ComparisonState = 'unknown' | 'first' | 'known' | 'again'

type Transition = 'begin' | 'succeed' | 'fail' | 'forget'

/** Resulting state of each transition, by the current state; left out: the transition does not apply. */
const transitions: Record<Transition, Partial<Record<ComparisonState, ComparisonState>>> = {
  begin: { unknown: 'first', known: 'again' },
  succeed: { first: 'known', again: 'known' },
  fail: { first: 'unknown', again: 'known' },
  forget: { unknown: 'unknown', first: 'unknown', known: 'unknown', again: 'unknown' },
}

/** The comparison of one node's rooms with the store. */
export class NodeComparison {
  #state: ComparisonState = 'unknown'

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

/** Number of unanswered requests after which the loop pauses until the next successful poll. */
const unansweredAtMost = 3

/**
 * Failures of the loop that corrects the rooms of a node. Determines when the loop pauses until the next successful
 * poll, and which failures are logged.
 */
export class LoopFailures {
  readonly #node: string
  readonly #logger: NodeLogger
  #rest: { error: unknown } | undefined
  #unanswered = 0
  /** Number of failures in the current pass over the rooms. */
  #failed = 0
  /** Whether a failure was logged, and the failures have continued since. */
  #complained = false

  constructor(node: string, logger: NodeLogger) {
    this.#node = node
    this.#logger = logger
  }

  /** Reason why no requests are sent to the node until its next successful poll; undefined: requests are sent. */
  get rest(): { error: unknown } | undefined {
    return this.#rest
  }

  /** Ends the pause: the node answered a poll, or was replaced. */
  renew(): void {
    this.#rest = undefined
    this.#unanswered = 0
  }

  begin(): void {
    this.#failed = 0
  }

  end(): void {
    if (this.#failed === 0) this.#complained = false
  }

  /** Records that a room could not be corrected. While the failures continue, only unexpected failures are logged. */
  note(roomId: string, error: unknown): void {
    this.#failed += 1
    if (error instanceof DeadlineError) this.#unanswered += 1
    if (error instanceof NodeConnectionError || this.#unanswered > unansweredAtMost) this.#rest = { error }
    if (!(error instanceof NodeError || error instanceof DeadlineError)) this.unexpected(error)
    if (this.#complained) return
    this.#complained = true
    this.#logger.warn(
      { node: this.#node, room: roomId, error: describeFailure(error) },
      'a room could not be corrected on its node: retry after the next good poll',
    )
  }

  /** Logs an unexpected error with its stack. */
  unexpected(error: unknown): void {
    this.#logger.error({ node: this.#node, err: error }, 'a room failed in an unexpected way')
  }
}
