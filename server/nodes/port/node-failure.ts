import { refusal } from '../../../shared/refusals/refusal.ts'
import { ApiError } from '../../../shared/result-codes.ts'
import { DeadlineError } from './deadline.ts'
import { DeviceJoinError, isNodeRefusal, NodeConnectionError, NodeError } from './media-node-port.ts'

/** Log of the nodes, compatible with pino's loggers. */
export interface NodeLogger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** Describes the failure of a poll or another call for the operator. */
export function describeFailure(error: unknown): string {
  if (error instanceof DeadlineError) return `The node did not answer within ${error.waited / 1_000} s.`
  if (error instanceof NodeConnectionError) return `The connection to the node failed: ${withoutPeriod(error.message)}.`
  if (error instanceof NodeError) return `The node refused: ${withoutPeriod(error.message)}.`
  return 'The node failed in an unexpected way: it was logged.'
}

function withoutPeriod(sentence: string): string {
  return sentence.replace(/\.$/, '')
}

/**
 * Returns whether the room's node was lost during or just before the call. The result of the call is then unknown, and
 * another node may be tried.
 */
export function isLostNode(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'nodeOffline' && !isNodeRefusal(error.cause)
}

/**
 * Converts the failure of a call for the caller of the pool. The reason given by the node is added to the log and to
 * `reason`.
 */
export function asApiError(error: unknown, call: { node: string; name: string }, logger: NodeLogger): Error {
  if (error instanceof ApiError || error instanceof DeviceJoinError) return error
  if (error instanceof DeadlineError) return new ApiError('nodeTimeout', { reason: describeFailure(error) })
  if (error instanceof NodeError) {
    logger.warn({ ...call, error: error.message }, 'a node refused a call')
    return new ApiError('nodeOffline', {
      refusal: refusal('nodeRefused'),
      reason: describeFailure(error),
      cause: error,
    })
  }
  logger.error({ ...call, err: error }, 'a call to a node failed in an unexpected way')
  return new ApiError('internal', { cause: error })
}

/**
 * Runs a callback. Logs an unexpected exception with its stack, so that it neither ends the process nor skips other
 * listeners.
 */
export function guarded(logger: NodeLogger, what: string, run: () => void): void {
  try {
    run()
  } catch (error) {
    logger.error({ err: error }, what)
  }
}
