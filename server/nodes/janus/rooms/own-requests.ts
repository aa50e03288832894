import { within } from '../../port/deadline.ts'
import { NodeConnectionError, NodeError } from '../../port/media-node-port.ts'
import { describeFailure, type NodeLogger } from '../../port/node-failure.ts'

/** Timeout of requests that the driver sends after an event, in milliseconds. */
const ownRequestMs = 4_000

/** Requests that the driver of a node sends without a caller, until the node goes out of service. */
export class OwnRequests {
  readonly #node: string
  readonly #logger: NodeLogger
  readonly #closing = new AbortController()

  /** @param node name of the node */
  constructor(node: string, logger: NodeLogger) {
    this.#node = node
    this.#logger = logger
  }

  /** Whether the node went out of service. */
  get haveEnded(): boolean {
    return this.#closing.signal.aborted
  }

  /** Ends pending requests, and drops later ones. */
  end(): void {
    this.#closing.abort(new NodeConnectionError('the node was taken out of service'))
  }

  /** @throws NodeConnectionError after `end` */
  assertOpen(): void {
    this.#closing.signal.throwIfAborted()
  }

  /**
   * Sends a request with a deadline.
   * @throws the errors of `run`; DeadlineError; NodeConnectionError after `end`
   */
  send<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return within({ milliseconds: ownRequestMs, signal: this.#closing.signal }, run)
  }

  /**
   * Runs a task in the background. After a failure, the next poll tries again.
   * @param what name of the task for the log
   */
  inBackground(what: string, run: () => Promise<unknown>): void {
    if (this.haveEnded) return
    run().catch((error: unknown) => {
      if (this.haveEnded) return
      const node = this.#node
      if (error instanceof NodeError) this.#logger.debug({ node, error: describeFailure(error) }, `${what} failed`)
      else this.#logger.warn({ node, err: error }, `${what} failed`)
    })
  }
}
