import { DeadlineError } from '../../port/deadline.ts'
import { NodeConnectionError, NodeError } from '../../port/media-node-port.ts'
import { describeFailure, type NodeLogger } from '../../port/node-failure.ts'

/** Rooms that may go unanswered before the loop rests until the next good poll. */
const unansweredAtMost = 3

/** Failures of the loop that corrects the rooms of a node: decides when to wait for the next good poll, and what to log. */
export class LoopFailures {
  readonly #node: string
  readonly #logger: NodeLogger
  #rest: { error: unknown } | undefined
  #unanswered = 0
  /** In this pass over the rooms. */
  #failed = 0
  /** Failures were logged, and go on. */
  #complained = false

  constructor(node: string, logger: NodeLogger) {
    this.#node = node
    this.#logger = logger
  }

  /** Why nothing more is asked of the node until its next good poll; undefined when it may be asked. */
  get rest(): { error: unknown } | undefined {
    return this.#rest
  }

  /** The node answered a poll, or is another one: it may be asked. */
  renew(): void {
    this.#rest = undefined
    this.#unanswered = 0
  }

  /** A pass over the rooms begins. */
  begin(): void {
    this.#failed = 0
  }

  /** The pass has ended. */
  end(): void {
    if (this.#failed === 0) this.#complained = false
  }

  /** A room could not be made right. Of a pass that fails like the one before, nothing is logged but what nobody foresaw. */
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

  /** Logs an unexpected error whole. */
  unexpected(error: unknown): void {
    this.#logger.error({ node: this.#node, err: error }, 'a room failed in an unexpected way')
  }
}
