/** Log of failures, with the interface of pino's loggers. */
interface FailureLog {
  error(fields: { err: unknown }, message: string): void
}

/**
 * Lets work continue in the background. A failure is logged, and the process continues.
 * @param failure log message, e.g. `an export could not be removed`
 */
export function inBackground(work: Promise<unknown>, failure: string, log: FailureLog): void {
  work.catch((err: unknown) => log.error({ err }, failure))
}

/**
 * Lets work continue in the background that handles its failures itself, or without which the process cannot work. A
 * rejection is a defect: it is thrown outside of every caller, so that the crash guard of the process logs it and
 * restarts the process.
 */
export function mustNotFail(work: Promise<unknown> | undefined | void): void {
  work?.catch((error: unknown) => {
    queueMicrotask(() => {
      throw error
    })
  })
}
