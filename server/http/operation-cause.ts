import type { ChangeCause } from '../store/change-cause.ts'
import type { Exchange } from './exchange.ts'
import type { Caller } from './operation.ts'

/** A call of an operation that changes or makes something. */
export interface OperationCause extends ChangeCause {
  /** Whether its event was part of a transaction; otherwise the event follows the answer. */
  readonly isRecorded: boolean
}

/** Makes the causes of the changes that operations store. On the hot path. */
export interface OperationCauses {
  /** @returns undefined for an operation without an effect */
  of(operation: string, exchange: Pick<Exchange, 'room' | 'parameters'>, caller: Caller): OperationCause | undefined
}
