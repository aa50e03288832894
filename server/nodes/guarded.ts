import type { NodeLogger } from './node-failure.ts'

/** Calls what somebody else wrote: an exception that nobody foresaw is logged whole and ends here, so that neither the process nor the other listeners suffer from it. */
export function guarded(logger: NodeLogger, what: string, run: () => void): void {
  try {
    run()
  } catch (error) {
    logger.error({ err: error }, what)
  }
}
