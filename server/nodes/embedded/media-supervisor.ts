import type {
  ControlEvent,
  ControlMethod,
  ControlParams,
  ControlResult,
  MediaStart,
} from '../../../shared/media/control.ts'
import type { MediaSettings } from '../../../shared/media/media-settings.ts'
import { DeadlineError, unlessAborted, within } from '../port/deadline.ts'
import { NodeConnectionError } from '../port/media-node-port.ts'
import type { NodeLogger } from '../port/node-failure.ts'
import { guarded } from '../port/guarded.ts'
import { ControlClient } from './control-client.ts'
import { FfmpegRuns } from './ffmpeg/ffmpeg-runs.ts'
import type { LocalFfmpeg } from './ffmpeg/local-ffmpeg.ts'
import { watchLiveness } from './liveness-watch.ts'
import type { SpawnMediaProcess } from './media-process.ts'
import { RestartLadder } from './restart-ladder.ts'

/** What keeps a media process running. */
export interface SupervisorOptions {
  spawn: SpawnMediaProcess
  /** Run for the process, which may start none. */
  ffmpeg: LocalFfmpeg
  /** What the process is told first; asked at each start. `ports` are those of the process before: people have their addresses. */
  start: (ports: ControlResult<'start'> | undefined) => MediaStart
  /** Whether it can be started at all; asked before each start. @throws Error that says why not */
  mayStart?: ((ports: ControlResult<'start'> | undefined) => Promise<void>) | undefined
  logger: NodeLogger
  onEvent: (event: ControlEvent) => void
  /** The process has ended, or another one runs: what was known of its rooms is void. */
  onRestart: () => void
  /** The process ended, hung or could not be started, and is started again; `why` in plain words. */
  onFailure?: ((why: string) => void) | undefined
  /** A process that says nothing for so long, although it is asked, hangs and is started anew; milliseconds, 10 s when left out. */
  hangsAfterMs?: number | undefined
}

/** Milliseconds from the start of the process to its first word, and from there until it listens. */
const startMs = 10_000
/** What a process that is started anew on purpose has to end in order, in milliseconds. */
const restartMs = 1_000
/** Unless the options say otherwise. */
const defaultHangMs = 10_000
/** Of the time after which a process takes its controller to lead no more, the part after which it is told again that it does. */
const tellsOfLease = 6
/** What a killed process may take to be gone. */
const killMs = 2_000

/** Keeps one media process running: starts it, starts it again when it ends, hangs or cannot start, and ends it in order. */
export class MediaSupervisor {
  readonly #options: SupervisorOptions
  readonly #stopper = new AbortController()
  readonly #ladder = new RestartLadder()
  #client: ControlClient | undefined
  #attempt: Promise<ControlClient> | undefined
  #ports: ControlResult<'start'> | undefined
  #settings = ''
  /** Of its settings. */
  #transcoders = 0
  #lastError = ''
  /** It was ended to be started anew: that is no failure. */
  #restarting = false
  #upSince = 0
  /** Tells the process that this controller leads. */
  #leading: NodeJS.Timeout | undefined
  #endWatch: () => void = () => {}
  #timer: NodeJS.Timeout | undefined

  constructor(options: SupervisorOptions) {
    this.#options = options
  }

  /** Where it listens, or did before it ended; undefined before its first start. */
  get ports(): ControlResult<'start'> | undefined {
    return this.#ports
  }

  /** Of the process; undefined when none runs. */
  get pid(): number | undefined {
    return this.#client?.pid
  }

  /** Starts the process. @throws what the first start failed with; it is tried again all the same until `stop` */
  async start(): Promise<void> {
    await this.#launch()
  }

  /**
   * The connection to the process that runs; waits for one that is starting.
   * @throws NodeConnectionError when none runs, with the reason; the signal's reason
   */
  async client(signal: AbortSignal): Promise<ControlClient> {
    if (this.#client !== undefined) return this.#client
    if (this.#attempt === undefined) throw new NodeConnectionError(this.#lastError || 'it does not run')
    try {
      return await unlessAborted(this.#attempt, signal)
    } catch (error) {
      signal.throwIfAborted()
      throw new NodeConnectionError(messageOf(error), { cause: error })
    }
  }

  /** Ends the process in order and starts another, e.g. for another UDP port. */
  async restart(): Promise<void> {
    if (this.#client === undefined) return
    this.#restarting = true
    await this.#end(this.#client, restartMs)
  }

  /** Tells the process other settings, if they are others. */
  async configure(settings: MediaSettings): Promise<void> {
    const client = this.#client
    const text = JSON.stringify(settings)
    if (client === undefined || text === this.#settings) return
    this.#settings = text
    this.#transcoders = settings.transcoders
    this.#tellLead(client, settings)
    const limits = { milliseconds: startMs, signal: this.#stopper.signal }
    try {
      await within(limits, (signal) => client.request('set_settings', settings, signal))
    } catch (error) {
      // The next process is told at its start.
      if (this.#client === client) this.#settings = ''
      this.#options.logger.warn({ err: error }, 'the embedded node did not take its settings')
    }
  }

  /** Tells the process something that the next one is told at its start anyway. */
  async tell<M extends ControlMethod>(method: M, params: ControlParams<M>): Promise<void> {
    const limits = { milliseconds: startMs, signal: this.#stopper.signal }
    try {
      await within(limits, async (signal) => {
        await this.#client?.request(method, params, signal)
      })
    } catch (error) {
      this.#options.logger.warn({ err: error, method }, 'the embedded node did not take a change')
    }
  }

  /** Ends the process for good: in order within `milliseconds`, then at once. */
  async stop(milliseconds: number): Promise<void> {
    this.#stopper.abort(new NodeConnectionError('it was stopped'))
    clearTimeout(this.#timer)
    clearInterval(this.#leading)
    this.#endWatch()
    const client = this.#client ?? (await this.#attempt?.catch(() => undefined))
    await this.#end(client, milliseconds)
  }

  #launch(): Promise<ControlClient> {
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

  async #begin(): Promise<ControlClient> {
    const { spawn, ffmpeg, start, mayStart, logger, onEvent } = this.#options
    await mayStart?.(this.#ports)
    this.#stopper.signal.throwIfAborted()
    const process = spawn()
    const runs = new FfmpegRuns({
      ffmpeg,
      tell: (message) => process.send({ type: 'ffmpeg', message }),
      transcoders: () => this.#transcoders,
      logger,
    })
    const client: ControlClient = new ControlClient(
      process,
      {
        event: onEvent,
        ffmpeg: (message) => runs.take(message),
        exit: (why) => {
          runs.endAll()
          this.#ended(client, why)
        },
      },
      logger,
    )
    const limits = { milliseconds: startMs, signal: this.#stopper.signal }
    let told: MediaStart
    try {
      await within(limits, () => client.hello)
      told = start(this.#ports)
      this.#transcoders = told.settings.transcoders
      this.#ports = await within(limits, (signal) => client.request('start', told, signal))
      this.#settings = JSON.stringify(told.settings)
    } catch (error) {
      client.kill()
      throw error
    }
    this.#client = client
    this.#upSince = performance.now()
    this.#ladder.started()
    this.#lastError = ''
    logger.info({ pid: client.pid, ...this.#ports }, 'the embedded node runs')
    this.#watch(client)
    this.#tellLead(client, told.settings)
    this.#tellRestart()
    return client
  }

  /** A process whose controller says nothing for too long ends. */
  #tellLead(client: ControlClient, { lease_ms: leaseMs }: MediaSettings): void {
    clearInterval(this.#leading)
    if (leaseMs === 0) return
    const tell = (): void => void client.request('leads', {}, this.#stopper.signal).catch(() => {})
    this.#leading = setInterval(tell, leaseMs / tellsOfLease).unref()
  }

  /** Ends the process when it hangs, so that another takes its place. */
  #watch(client: ControlClient): void {
    const { logger, hangsAfterMs = defaultHangMs } = this.#options
    this.#endWatch = watchLiveness(
      {
        ask: () => client.request('health', {}, this.#stopper.signal),
        heardAt: () => client.lastHeard,
        onHang: () => {
          logger.error({ pid: client.pid }, 'the embedded node hangs: it is started anew')
          client.kill()
        },
      },
      hangsAfterMs,
    )
  }

  #tellRestart(): void {
    guarded(this.#options.logger, 'a listener of the embedded node failed', this.#options.onRestart)
  }

  #ended(client: ControlClient, why: string): void {
    if (this.#client !== client) return
    this.#client = undefined
    this.#endWatch()
    clearInterval(this.#leading)
    this.#tellRestart()
    this.#startAgain(why, () => this.#ladder.crashed(performance.now() - this.#upSince))
  }

  /** Starts it anew after the ladder's wait, or at once where it was ended for that. */
  #startAgain(why: string, waitOf: () => number): void {
    if (this.#stopper.signal.aborted) return
    if (this.#restarting) {
      this.#restarting = false
      void this.#launch().catch(() => {})
      return
    }
    this.#lastError = why
    const wait = waitOf()
    this.#options.logger.error({ error: why, next_start_ms: wait }, 'the embedded node does not run')
    guarded(this.#options.logger, 'a listener of the embedded node failed', () => this.#options.onFailure?.(why))
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#launch().catch(() => {}), wait).unref()
  }

  async #end(client: ControlClient | undefined, milliseconds: number): Promise<void> {
    if (client === undefined) return
    client.stop()
    try {
      await within({ milliseconds: Math.max(1, milliseconds) }, () => client.exited)
    } catch {
      client.kill()
      await within({ milliseconds: killMs }, () => client.exited).catch(() => {})
    }
  }
}

function messageOf(error: unknown): string {
  if (error instanceof DeadlineError) return `it did not start within ${error.waited / 1_000} s`
  return error instanceof Error ? error.message : String(error)
}
