import type { Logger } from 'pino'
import { mustNotFail } from '../../shared/unawaited.ts'
import { maxRestarts as usualRestarts, oneMore, type Restarts, restartWindowMs } from '../controller/restarts.ts'

/** Needs of a crash guard. */
export interface CrashGuardOptions {
  logger: Pick<Logger, 'fatal'>
  /** Restarts of the processes before this one. */
  before: Restarts
  /** Ports that listen now, by listener. */
  ports: () => Restarts['ports']
  /** Ends everything at once: nothing more is accepted, what was acknowledged is on the disk. It may take its time. */
  abandon: () => Promise<void>
  /** Whether the process should go on: false before it was ready, and once it was asked to end. */
  runsOn: () => boolean
  /** Puts a new process in the place of this one. */
  startAgain: (restarts: Restarts) => void
  /** How often it is started again within `restartWindowMs`; left out: `maxRestarts`. */
  maxRestarts?: number
  /** Ends this process for good, with a line that says why. `notRunning`: it had not started yet, or was about to end. */
  end: (code: number, line: string, reason: 'repeated' | 'notRunning') => void
}

/** Exit code of a process after an unexpected error that is not started again (EX_SOFTWARE of sysexits.h). */
const crashExitCode = 70
/** Time for ending, in milliseconds, so that people and cameras are back within 5 s. */
const abandonMs = 2_000

/**
 * The last resort: an error that was caught nowhere, so that nobody knows what of the process's state still holds. It is logged whole, the process ends
 * in order and starts again from what is on the disk; but only so often within a minute, for a process that always fails helps nobody.
 */
export class CrashGuard {
  readonly #options: CrashGuardOptions
  #crashed = false

  constructor(options: CrashGuardOptions) {
    this.#options = options
  }

  /** From now on every error that was caught nowhere comes here. */
  watch(source: NodeJS.Process = process): void {
    source.on('uncaughtException', (error, origin) => mustNotFail(this.crash(error, origin)))
    // A rejection that nobody handles: the work that it belongs to stopped somewhere in its middle.
    source.on('unhandledRejection', (reason) => mustNotFail(this.crash(reason, 'unhandledRejection')))
  }

  /** Resolves when the process was replaced or asked to end. Never rejects. */
  async crash(error: unknown, origin: string): Promise<void> {
    const { logger, before, ports, abandon, runsOn, maxRestarts = usualRestarts, startAgain, end } = this.#options
    logger.fatal({ err: error, origin }, 'unexpected error')
    // While it ends, anything may fail.
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

/** Its timer holds the process: where nothing else is left to wait for, it must not end before it was started again. */
async function withDeadline(work: Promise<void>): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`It took longer than ${abandonMs} ms.`)), abandonMs)
  try {
    await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
