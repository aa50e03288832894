import type { z } from 'zod'
import { deviceOperations } from '../../../shared/device-operations.ts'
import { mediaOperations } from '../../../shared/media-operations.ts'
import type { OperationContract } from '../../../shared/operation.ts'
import { type ErrorName, retOf } from '../../../shared/result-codes.ts'

type Declared = (typeof mediaOperations)[number] | (typeof deviceOperations)[number]
export type OperationName = Declared['name']
/** Fields of a success of an operation, without `ret`. */
export type SuccessOf<N extends OperationName> = z.output<Extract<Declared, { name: N }>['success']>

/** Operations that are checked. Operations for older clients are off by default, and are not. */
export const checkedOperations: readonly (OperationContract & { name: OperationName })[] = [
  ...mediaOperations,
  ...deviceOperations,
]

const byName = new Map<string, OperationContract>(checkedOperations.map((operation) => [operation.name, operation]))

export function operationOf(name: OperationName): OperationContract {
  const operation = byName.get(name)
  if (operation === undefined) throw new TypeError(`There is no operation ${name}.`)
  return operation
}

/** Returns the result code of an error on the API of an operation. */
export function codeOf(name: OperationName, error: ErrorName): number {
  const code = retOf(operationOf(name).api, error)
  if (code === undefined) throw new TypeError(`${name} has no code for ${error}.`)
  return code
}

/** Returns the parameters that an operation requires, in the order of its declaration. */
export function requiredParameters({ params }: OperationContract): string[] {
  return Object.entries(params.shape).flatMap(([name, schema]) =>
    (schema as z.ZodType).safeParse(undefined).success ? [] : [name],
  )
}

/** Returns well-formed parameters of an operation that refer to records that do not exist. @param id unused id */
export function wellFormed(name: OperationName, id: string): Record<string, string> {
  const values: Readonly<Record<string, string>> = {
    topic: 'Conformance check',
    owner_id: 'conformance',
    room_mode: '1',
    room_id: id,
    room_extend_id: id,
    roomId: id,
    user_id: id,
    userId: id,
    user_name: 'Conformance check',
    userName: 'Conformance check',
    userAddress: 'rtsp://127.0.0.1:1/conformance',
    id,
    from: '0',
    to: '60000',
  }
  return Object.fromEntries(
    requiredParameters(operationOf(name)).map((parameter) => [parameter, values[parameter] ?? '']),
  )
}
