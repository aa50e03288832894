import type { NodeLogger } from './node-failure.ts'

/**
 * Runs a callback. Logs an unexpected exception with its stack, so that it neither ends the process nor skips other
 * listeners.
 */
export function guarded(logger: NodeLogger, what: string, run: () => void): void {
  try {
    run()
  } catch (error) {
    logger.error({ err: error }, what)
  }
}
