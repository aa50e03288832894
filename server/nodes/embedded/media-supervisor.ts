import type { ControlMethod, ControlParams, ControlResult, MediaStart } from '../../../shared/media/control.ts'
import type { MediaSettings } from '../../../shared/media/media-settings.ts'
import { unlessAborted } from '../../../shared/abort.ts'
import { DeadlineError } from '../port/deadline.ts'
import { NodeConnectionError } from '../port/media-node-port.ts'
import type { NodeLogger } from '../port/node-failure.ts'
import type { MediaRequests, ProcessEvents } from './control-client.ts'
import type { LocalFfmpeg } from './ffmpeg/ffmpeg-program.ts'
import type { SpawnMediaProcess } from './media-process.ts'
import { ProcessRun } from './process-run.ts'
import { type Backoff, backoffMs } from '../../../shared/backoff.ts'

/**
 * Delays after a crash, by the number of consecutive short runs. People and cameras should be back 5 s after a crash,
 * even after the fifth crash within a minute. Starting the process, its rooms and its cameras takes up to 2 s.
 * Therefore no delay exceeds 3 s, and a start every 3 s is harmless.
 */
const crashBackoff: Backoff = { first: 1_000, max: 3_000, repeat: 2 }
/** Delays after failed starts: more frequent attempts would not help. */
const startBackoff: Backoff = { first: 1_000, max: 30_000 }
/** Run time after which a process counts as stable, in milliseconds. */
const wellAfterMs = 15_000
export interface SupervisorOptions {
  spawn: SpawnMediaProcess
  /** ffmpeg that is run on behalf of the process, which may not start programs. */
  ffmpeg: LocalFfmpeg
  /**
   * Returns the first request to each process.
   * @param ports ports of the previous process, which are kept because clients have the addresses
   */
  start: (ports: ControlResult<'start'> | undefined) => MediaStart
  /**
   * Checks before each start whether it can succeed.
   * @throws Error with the reason
   */
  mayStart?: ((ports: ControlResult<'start'> | undefined) => Promise<void>) | undefined
  logger: NodeLogger
  /** Receives the messages, restarts and failures of the process. */
  events: ProcessEvents
  /** Time without an answer after which a process counts as hanging and is replaced, in milliseconds; default: 10 s. */
  hangsAfterMs?: number | undefined
}

/** Timeout of an orderly end before an intended restart, in milliseconds. */
const restartMs = 1_000
const defaultHangMs = 10_000

/**
 * Keeps one media process running. Starts it again if it ends, hangs or cannot be started, and ends it in an orderly
 * way.
 */
export class MediaSupervisor {
  readonly #options: SupervisorOptions
  readonly #stopper = new AbortController()
  readonly #ladder = new RestartLadder()
  /** The process that listens. */
  #running: ProcessRun | undefined
  #attempt: Promise<ProcessRun> | undefined
  #ports: ControlResult<'start'> | undefined
  #lastError = ''
  /** Whether the process is being ended for an intended restart. */
  #restarting = false
  #timer: NodeJS.Timeout | undefined

  constructor(options: SupervisorOptions) {
    this.#options = options
  }

  /** Ports on which the process listens, or listened before it ended; undefined before the first start. */
  get ports(): ControlResult<'start'> | undefined {
    return this.#ports
  }

  /** Id of the process; undefined if none runs. */
  get pid(): number | undefined {
    return this.#running?.client.pid
  }

  /**
   * Starts the process.
   * @throws the error of the first start, which is then retried until `stop`
   */
  async start(): Promise<void> {
    await this.#launch()
  }

  /**
   * Returns the connection to the process, and waits for one that is starting.
   * @throws NodeConnectionError with the reason if none runs; the signal's reason
   */
  async client(signal: AbortSignal): Promise<MediaRequests> {
    if (this.#running !== undefined) return this.#running.client.link
    if (this.#attempt === undefined) throw new NodeConnectionError(this.#lastError || 'it does not run')
    try {
      return (await unlessAborted(this.#attempt, signal)).client.link
    } catch (error) {
      signal.throwIfAborted()
      throw new NodeConnectionError(messageOf(error), { cause: error })
    }
  }

  /** Ends the process in an orderly way and starts another process, e.g. for another UDP port. */
  async restart(): Promise<void> {
    if (this.#running === undefined) return
    this.#restarting = true
    await this.#running.end(restartMs)
  }

  /** Sends settings to the process, unless it already has them. */
  async configure(settings: MediaSettings): Promise<void> {
    await this.#running?.configure(settings)
  }

  /** Sends a change to the process. Any later process receives the change at its start. */
  async tell<M extends ControlMethod>(method: M, params: ControlParams<M>): Promise<void> {
    await this.#running?.tell(method, params)
  }

  /** Ends the process permanently: in an orderly way within `milliseconds`, then by killing it. */
  async stop(milliseconds: number): Promise<void> {
    this.#stopper.abort(new NodeConnectionError('it was stopped'))
    clearTimeout(this.#timer)
    this.#running?.endTimers()
    // A failed start was logged.
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

  /** Starts the process again after the delay, or immediately if the restart was intended. */
  #startAgain(why: string, waitOf: () => number): void {
    if (this.#stopper.signal.aborted) return
    if (this.#restarting) {
      this.#restarting = false
      // A failed launch is logged, and schedules the next attempt.
      void this.#launch().catch(() => {})
      return
    }
    this.#lastError = why
    const wait = waitOf()
    this.#options.logger.error({ error: why, next_start_ms: wait }, 'the embedded node does not run')
    this.#options.events.failed(why)
    clearTimeout(this.#timer)
    // A failed launch is logged, and schedules the next attempt.
    this.#timer = setTimeout(() => void this.#launch().catch(() => {}), wait).unref()
  }
}

function messageOf(error: unknown): string {
  if (error instanceof DeadlineError) return `it did not start within ${error.waited / 1_000} s`
  return error instanceof Error ? error.message : String(error)
}

/** Computes the delay before the media process is started again. */
class RestartLadder {
  #crashes = 0
  #failedStarts = 0

  started(): void {
    this.#failedStarts = 0
  }

  /**
   * Handles the end of a process that ran for `ranFor` milliseconds. Returns the delay of the next start in
   * milliseconds.
   */
  crashed(ranFor: number): number {
    if (ranFor > wellAfterMs) this.#crashes = 0
    this.#crashes += 1
    return backoffMs(crashBackoff, this.#crashes)
  }

  /** Handles a failed start. Returns the delay of the next start in milliseconds. */
  startFailed(): number {
    this.#failedStarts += 1
    return backoffMs(startBackoff, this.#failedStarts)
  }
}
