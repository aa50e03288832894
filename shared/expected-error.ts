/**
 * A failure that belongs to the work, such as a camera that does not answer. It has no stack: nobody reads where in the program it arose, and to walk the stack costs
 * more than the failed attempt itself. What nobody foresaw stands in its `cause`, whole.
 */
export class ExpectedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(message, options)
    Error.stackTraceLimit = stackTraceLimit
  }
}
