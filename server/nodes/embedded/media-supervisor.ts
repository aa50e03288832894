import type { ControlMethod, ControlParams, ControlResult, MediaStart } from '../../../shared/media/control.ts'
import type { MediaSettings } from '../../../shared/media/media-settings.ts'
import { unlessAborted } from '../../../shared/abort.ts'
import { DeadlineError } from '../port/deadline.ts'
import { NodeConnectionError } from '../port/media-node-port.ts'
import type { NodeLogger } from '../port/node-failure.ts'
import type { ControlClient } from './control-client.ts'
import type { LocalFfmpeg } from './ffmpeg/local-ffmpeg.ts'
import type { SpawnMediaProcess } from './media-process.ts'
import type { ProcessEvents } from './process-events.ts'
import { ProcessRun } from './process-run.ts'
import { type Backoff, backoffMs } from '../../../shared/backoff.ts'

/**
 * Delays after the end of a process that had run, by the number of short runs in a row. People and cameras are to be back 5 s after a crash, also
 * after the fifth within a minute. A start, the rooms and the cameras take up to two of them: so no wait is longer than three, and a start every three seconds does no harm.
 */
const crashBackoff: Backoff = { first: 1_000, max: 3_000, repeat: 2 }
/** Delays after failed starts: frequent attempts would not help. */
const startBackoff: Backoff = { first: 1_000, max: 30_000 }
/** A process that ran for so long is well; milliseconds. */
const wellAfterMs = 15_000
/** Parts that keep a media process running. */
export interface SupervisorOptions {
  spawn: SpawnMediaProcess
  /** Run for the process, which may start none. */
  ffmpeg: LocalFfmpeg
  /** Makes the first request of each process. `ports` are those of the process before: people have their addresses. */
  start: (ports: ControlResult<'start'> | undefined) => MediaStart
  /** Checks before each start whether it can succeed. @throws Error with the reason */
  mayStart?: ((ports: ControlResult<'start'> | undefined) => Promise<void>) | undefined
  logger: NodeLogger
  /** Receives the messages of each process, its restarts and its failures. */
  events: ProcessEvents
  /** Silence, although requests are sent, after which a process hangs and is replaced; milliseconds, 10 s when left out. */
  hangsAfterMs?: number | undefined
}

/** Deadline of an orderly end before a restart on purpose, in milliseconds. */
const restartMs = 1_000
/** Unless the options say otherwise. */
const defaultHangMs = 10_000

/** Keeps one media process running: starts it, starts it again when it ends, hangs or cannot start, and ends it in order. */
export class MediaSupervisor {
  readonly #options: SupervisorOptions
  readonly #stopper = new AbortController()
  readonly #ladder = new RestartLadder()
  /** The process that listens. */
  #running: ProcessRun | undefined
  /** The start under way. */
  #attempt: Promise<ProcessRun> | undefined
  #ports: ControlResult<'start'> | undefined
  #lastError = ''
  /** Set while the process is ended on purpose, to be started again. */
  #restarting = false
  #timer: NodeJS.Timeout | undefined

  constructor(options: SupervisorOptions) {
    this.#options = options
  }

  /** Ports that it listens on, or did before it ended; undefined before its first start. */
  get ports(): ControlResult<'start'> | undefined {
    return this.#ports
  }

  /** Id of the process; undefined when none runs. */
  get pid(): number | undefined {
    return this.#running?.client.pid
  }

  /** Starts the process. @throws what the first start failed with; it is tried again all the same until `stop` */
  async start(): Promise<void> {
    await this.#launch()
  }

  /**
   * Gives the connection to the process; waits for one that is starting.
   * @throws NodeConnectionError when none runs, with the reason; the signal's reason
   */
  async client(signal: AbortSignal): Promise<ControlClient> {
    if (this.#running !== undefined) return this.#running.client
    if (this.#attempt === undefined) throw new NodeConnectionError(this.#lastError || 'it does not run')
    try {
      return (await unlessAborted(this.#attempt, signal)).client
    } catch (error) {
      signal.throwIfAborted()
      throw new NodeConnectionError(messageOf(error), { cause: error })
    }
  }

  /** Ends the process in order and starts another, e.g. for another UDP port. */
  async restart(): Promise<void> {
    if (this.#running === undefined) return
    this.#restarting = true
    await this.#running.end(restartMs)
  }

  /** Sends the process settings, unless it has the same. */
  async configure(settings: MediaSettings): Promise<void> {
    await this.#running?.configure(settings)
  }

  /** Sends the process a change that the next one gets at its start. */
  async tell<M extends ControlMethod>(method: M, params: ControlParams<M>): Promise<void> {
    await this.#running?.tell(method, params)
  }

  /** Ends the process for good: in order within `milliseconds`, then at once. */
  async stop(milliseconds: number): Promise<void> {
    this.#stopper.abort(new NodeConnectionError('it was stopped'))
    clearTimeout(this.#timer)
    this.#running?.endTimers()
    // A start that failed was logged.
    const run = this.#running ?? (await this.#attempt?.catch(() => undefined))
    await run?.end(milliseconds)
  }

  #launch(): Promise<ProcessRun> {
    const attempt = this.#begin()
    this.#attempt = attempt
    const settle = (): void => {
      if (this.#attempt === attempt) this.#attempt = undefined
    }
    attempt.then(settle, (error: unknown) => {
      settle()
      this.#startAgain(messageOf(error), () => this.#ladder.startFailed())
    })
    return attempt
  }

  async #begin(): Promise<ProcessRun> {
    const { spawn, ffmpeg, start, mayStart, logger, events, hangsAfterMs = defaultHangMs } = this.#options
    const { signal } = this.#stopper
    await mayStart?.(this.#ports)
    signal.throwIfAborted()
    const run: ProcessRun = new ProcessRun(
      { spawn, ffmpeg, logger, handlers: events.handlers(), hangsAfterMs, signal },
      (why) => this.#ended(run, why),
    )
    this.#ports = await run.listen(() => start(this.#ports))
    this.#running = run
    this.#ladder.started()
    this.#lastError = ''
    logger.info({ pid: run.client.pid, ...this.#ports }, 'the embedded node runs')
    this.#options.events.restarted()
    return run
  }

  #ended(run: ProcessRun, why: string): void {
    if (this.#running !== run) return
    this.#running = undefined
    this.#options.events.restarted()
    this.#startAgain(why, () => this.#ladder.crashed(run.upMs))
  }

  /** Starts the process again after the backoff, or at once if it was ended on purpose. */
  #startAgain(why: string, waitOf: () => number): void {
    if (this.#stopper.signal.aborted) return
    if (this.#restarting) {
      this.#restarting = false
      // A failed launch is logged and tried again by its own timer.
      void this.#launch().catch(() => {})
      return
    }
    this.#lastError = why
    const wait = waitOf()
    this.#options.logger.error({ error: why, next_start_ms: wait }, 'the embedded node does not run')
    this.#options.events.failed(why)
    clearTimeout(this.#timer)
    // A failed launch is logged and tried again by its own timer.
    this.#timer = setTimeout(() => void this.#launch().catch(() => {}), wait).unref()
  }
}

function messageOf(error: unknown): string {
  if (error instanceof DeadlineError) return `it did not start within ${error.waited / 1_000} s`
  return error instanceof Error ? error.message : String(error)
}

/** Delay before the media process is started again. */
class RestartLadder {
  #crashes = 0
  #failedStarts = 0

  /** It answers. */
  started(): void {
    this.#failedStarts = 0
  }

  /** It ended after it had run for so many milliseconds: milliseconds until the next start. */
  crashed(ranFor: number): number {
    if (ranFor > wellAfterMs) this.#crashes = 0
    this.#crashes += 1
    return backoffMs(crashBackoff, this.#crashes)
  }

  /** It did not get to answer: milliseconds until the next start. */
  startFailed(): number {
    this.#failedStarts += 1
    return backoffMs(startBackoff, this.#failedStarts)
  }
}
