import type { z } from 'zod'
import type { OperationContract } from '../../shared/operation.ts'

/** The caller, as determined by the checks before the operation. */
export interface ApiCaller {
  client: string
  /** access_key of the session; empty: an operation without a token. */
  accessKey: string
}

/**
 * Implementation of an operation. Parameters are parsed and the token is checked. May return a plain value, so that a
 * look-up needs no promise.
 * @throws ApiError for every failure listed in the contract
 */
export type Handler<C extends OperationContract> = (
  params: z.output<C['params']>,
  caller: ApiCaller,
) => z.output<C['success']> | Promise<z.output<C['success']>>

/** Implementations of a list of operations, by name. */
export type HandlersOf<L extends readonly OperationContract[]> = {
  [N in L[number]['name']]: Handler<Extract<L[number], { name: N }>>
}

/** An operation with its implementation. Its types are erased, for the router. */
export interface AnyOperation {
  contract: OperationContract
  run(params: never, caller: ApiCaller): unknown
}

/** Binds operations to their implementations. CONTRIBUTING.md lists what a new operation needs. */
export function implement<C extends OperationContract, H extends HandlersOf<readonly C[]>>(
  contracts: readonly C[],
  // Without this record, TypeScript accepts additional names in an object that spreads others.
  handlers: H & Record<Exclude<keyof H, C['name']>, never>,
): AnyOperation[] {
  const byName: Readonly<Record<C['name'], AnyOperation['run']>> = handlers
  return contracts.map((contract) => ({ contract, run: byName[contract.name as C['name']] }))
}
