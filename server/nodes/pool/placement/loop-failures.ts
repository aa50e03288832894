import { DeadlineError } from '../../port/deadline.ts'
import { NodeConnectionError, NodeError } from '../../port/media-node-port.ts'
import { describeFailure, type NodeLogger } from '../../port/node-failure.ts'

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
