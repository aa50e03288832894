/**
 * A failure that is part of normal operation, such as a camera that does not answer. It has no stack: nobody needs its origin in the program, and capturing the stack costs
 * more than the failed attempt itself. An unexpected error is in its `cause`, in full.
 */
export class ExpectedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(message, options)
    Error.stackTraceLimit = stackTraceLimit
  }
}
