/** Log of failures, in the form of pino's loggers. */
interface FailureLog {
  error(fields: { err: unknown }, message: string): void
}

/**
 * Lets work continue in the background. A failure is logged, and the process goes on.
 * @param failure what is logged, e.g. `an export could not be removed`
 */
export function inBackground(work: Promise<unknown>, failure: string, log: FailureLog): void {
  work.catch((err: unknown) => log.error({ err }, failure))
}

/**
 * Lets work continue in the background that handles its failures itself, or without which the process is of no use. An error that leaves it is a fault of ours: it is thrown outside
 * of every caller, so that the crash guard of the process logs it and starts the process again.
 */
export function mustNotFail(work: Promise<unknown> | undefined | void): void {
  work?.catch((error: unknown) => {
    queueMicrotask(() => {
      throw error
    })
  })
}
