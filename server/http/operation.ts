import type { z } from 'zod'
import type { OperationContract } from '../../shared/operation.ts'

/** The caller, as far as the checks before the operation found out. */
export interface Caller {
  /** Client address (IP). */
  client: string
  /** access_key of the session; empty for an operation without a token. */
  accessKey: string
}

/** An operation's contract together with the code that does it. Adding an operation touches one file (and its contract in shared/). */
export interface Operation<P extends z.ZodObject = z.ZodObject, S extends z.ZodObject = z.ZodObject> {
  contract: OperationContract<P, S>
  /**
   * Does it. Parameters have been parsed, the token checked. May answer without a promise, so that a look-up costs no tick.
   * @throws ApiError for every failure the contract lists
   */
  run(params: z.output<P>, caller: Caller): z.output<S> | Promise<z.output<S>>
}

/** An operation whose types are forgotten, as the router holds it. */
export interface AnyOperation {
  contract: OperationContract
  run(params: never, caller: Caller): unknown
}

/** Binds a contract to its code. */
export function implement<P extends z.ZodObject, S extends z.ZodObject>(
  contract: OperationContract<P, S>,
  run: Operation<P, S>['run'],
): Operation<P, S> {
  return { contract, run }
}
