import type { z } from 'zod'
import type { OperationContract } from '../../shared/operation.ts'

/** The caller, as determined by the checks before the operation. */
export interface ApiCaller {
  client: string
  /** access_key of the session; empty: an operation without a token. */
  accessKey: string
}

/** An operation's contract with its implementation. CONTRIBUTING.md lists what a new operation needs. */
export interface Operation<P extends z.ZodObject = z.ZodObject, S extends z.ZodObject = z.ZodObject> {
  contract: OperationContract<P, S>
  /**
   * Executes the operation. Parameters are parsed and the token is checked. May return a plain value, so that a look-up
   * needs no promise.
   * @throws ApiError for every failure listed in the contract
   */
  run(params: z.output<P>, caller: ApiCaller): z.output<S> | Promise<z.output<S>>
}

/** An operation with erased types, for the router. */
export interface AnyOperation {
  contract: OperationContract
  run(params: never, caller: ApiCaller): unknown
}

/** Binds a contract to its implementation. */
export function implement<P extends z.ZodObject, S extends z.ZodObject>(
  contract: OperationContract<P, S>,
  run: Operation<P, S>['run'],
): Operation<P, S> {
  return { contract, run }
}
