/**
 * Failure that is part of normal operation, such as a camera that does not respond. It has no stack: its origin in the
 * program is irrelevant, and capturing the stack costs more than the failed attempt itself. An unexpected error is in
 * its `cause`, with its stack.
 */
export class ExpectedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(message, options)
    Error.stackTraceLimit = stackTraceLimit
  }
}
