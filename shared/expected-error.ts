/**
 * Failure that is part of normal operation, such as a camera that does not respond. It has no stack, because its origin
 * in the program is irrelevant and capturing the stack would cost more than the failed attempt. If an unexpected error
 * caused the failure, `cause` contains that error with its stack.
 */
export class ExpectedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(message, options)
    Error.stackTraceLimit = stackTraceLimit
  }
}
