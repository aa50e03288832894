import { type OperationName, operations } from './operations.ts'
import { type ErrorName, resultCodes } from './result-codes.ts'

/** The server refused a call. `message` is the text of the answer, with what to correct. */
export class ResultError extends Error {
  override readonly name = 'ResultError'
  readonly operation: OperationName
  /** Result code (`ret`). */
  readonly ret: number

  constructor(operation: OperationName, ret: number, message: string) {
    super(message)
    this.operation = operation
    this.ret = ret
  }

  /**
   * Whether the result code stands for an error on the API of the operation. Several errors share a code: on the device
   * API, 401 is a wrong parameter as well as a wrong token.
   */
  is(error: ErrorName): boolean {
    const codes: Partial<Record<ErrorName, number>> = resultCodes[operations[this.operation].api]
    return codes[error] === this.ret
  }
}

/**
 * A call got no answer of the API: no connection, no answer in time, or an answer of something in between, such as a
 * proxy. If the operation changes something, its outcome is unknown: read the state before you repeat it.
 */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'
  readonly operation: OperationName

  constructor(operation: OperationName, message: string, options?: ErrorOptions) {
    super(`${operation}: ${message}`, options)
    this.operation = operation
  }
}
