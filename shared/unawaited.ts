/** Log of failures, with the interface of pino's loggers. */
interface FailureLog {
  error(fields: { err: unknown }, message: string): void
}

/**
 * Lets a promise continue in the background. If it rejects, the failure is logged.
 * @param failure log message, e.g. `an export could not be removed`
 */
export function inBackground(work: Promise<unknown>, failure: string, log: FailureLog): void {
  work.catch((err: unknown) => log.error({ err }, failure))
}

/**
 * Lets a promise continue in the background that must not reject. A rejection is a defect: it is thrown as an uncaught
 * exception, so that the crash guard logs it and restarts the process.
 */
export function mustNotFail(work: Promise<unknown> | undefined | void): void {
  work?.catch((error: unknown) => {
    queueMicrotask(() => {
      throw error
    })
  })
}
