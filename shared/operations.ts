import { deviceOperations } from './device-operations.ts'
import { fieldOperations } from './field-operations.ts'
import { mediaOperations } from './media-operations.ts'
import type { OperationContract } from './operation.ts'

/** All operations that clients can call; each name occurs once. */
export const allOperations: readonly OperationContract[] = [...mediaOperations, ...deviceOperations, ...fieldOperations]

export const operationsByName: ReadonlyMap<string, OperationContract> = new Map(
  allOperations.map((each) => [each.name, each]),
)
