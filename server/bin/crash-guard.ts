import type { Logger } from 'pino'
import { mustNotFail } from '../../shared/unawaited.ts'
import { maxRestarts as usualRestarts, oneMore, type Restarts, restartWindowMs } from '../controller/restarts.ts'

export interface CrashGuardOptions {
  logger: Pick<Logger, 'fatal'>
  before: Restarts
  /** Returns the ports of the open listeners. */
  ports: () => Restarts['ports']
  /** Stops everything immediately, after storing all acknowledged changes. May take some time. */
  abandon: () => Promise<void>
  /** Returns whether the process is ready and was not asked to end. */
  runsOn: () => boolean
  /** Replaces this process by a new process. */
  startAgain: (restarts: Restarts) => void
  /** Maximum number of restarts within `restartWindowMs`; undefined: the constant `maxRestarts`. */
  maxRestarts?: number
  /**
   * Ends this process permanently, with a line that contains the reason. `notRunning`: the process was still starting,
   * or already ending.
   */
  end: (code: number, line: string, reason: 'repeated' | 'notRunning') => void
}

/** Exit code after an unexpected error if the process is not restarted (EX_SOFTWARE of sysexits.h). */
const crashExitCode = 70
/** Maximum time for stopping, in milliseconds, so that people and cameras reconnect within 5 s. */
const abandonMs = 2_000

/**
 * Handles errors that were not caught anywhere, after which the state of the process may be inconsistent. The error is
 * logged in full, and the process stops and restarts from the stored state. The number of restarts within a minute is
 * limited, so that a process that always fails ends.
 */
export class CrashGuard {
  readonly #options: CrashGuardOptions
  #crashed = false

  constructor(options: CrashGuardOptions) {
    this.#options = options
  }

  /** Handles every uncaught error from now on. */
  watch(source: NodeJS.Process = process): void {
    source.on('uncaughtException', (error, origin) => mustNotFail(this.crash(error, origin)))
    // After an unhandled rejection, some work has stopped midway.
    source.on('unhandledRejection', (reason) => mustNotFail(this.crash(reason, 'unhandledRejection')))
  }

  /** Stops this process, then restarts or ends it. Never rejects. */
  async crash(error: unknown, origin: string): Promise<void> {
    const { logger, before, ports, abandon, runsOn, maxRestarts = usualRestarts, startAgain, end } = this.#options
    logger.fatal({ err: error, origin }, 'unexpected error')
    // While the process stops, further errors are expected.
    if (this.#crashed) return
    this.#crashed = true
    const restarts = runsOn() ? oneMore(before, ports(), maxRestarts) : undefined
    await withDeadline(abandon()).catch((reason: unknown) => logger.fatal({ err: reason }, 'it did not end in order'))
    if (!runsOn())
      return end(crashExitCode, 'Roomdesk ends after an unexpected error: the log says which.', 'notRunning')
    if (restarts === undefined) {
      const line = `Roomdesk met an unexpected error ${maxRestarts + 1} times within ${restartWindowMs / 1_000} s and is not started again by itself: the log says which ("unexpected error"). Mend what it names, or report it, and start Roomdesk again.`
      return end(crashExitCode, line, 'repeated')
    }
    logger.fatal({ restarts: restarts.total }, 'starting again')
    startAgain(restarts)
  }
}

/**
 * Limits the duration of `work`. The timer keeps the process alive until the restart, even if no other work is pending.
 */
async function withDeadline(work: Promise<void>): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`It took longer than ${abandonMs} ms.`)), abandonMs)
  try {
    await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
