import type { NodeLogger } from './node-failure.ts'

/** Calls what somebody else wrote: an unexpected exception is logged whole, and ends neither the process nor the turn of the other listeners. */
export function guarded(logger: NodeLogger, what: string, run: () => void): void {
  try {
    run()
  } catch (error) {
    logger.error({ err: error }, what)
  }
}
