import type { ControlMethod, ControlParams, ControlResult, MediaStart } from '../../../shared/media/control.ts'
import type { MediaSettings } from '../../../shared/media/media-settings.ts'
import { within } from '../port/deadline.ts'
import type { NodeLogger } from '../port/node-failure.ts'
import { ControlClient, type ProcessHandlers } from './control-client.ts'
import { FfmpegRuns } from './ffmpeg/ffmpeg-runs.ts'
import type { LocalFfmpeg } from './ffmpeg/ffmpeg-program.ts'
import type { SpawnMediaProcess } from './media-process.ts'

/** Number of consecutive checks without a message after which a process counts as hanging. */
const looksUntilHang = 5

export interface ProcessRunOptions {
  spawn: SpawnMediaProcess
  /** ffmpeg that is run on behalf of the process, which may not start programs. */
  ffmpeg: LocalFfmpeg
  logger: NodeLogger
  /** Handlers of the process's messages, except those about ffmpeg. */
  handlers: Partial<ProcessHandlers>
  /** Time without an answer after which the process counts as hanging and is killed, in milliseconds. */
  hangsAfterMs: number
  /** Cancels pending requests. */
  signal: AbortSignal
}

/** Timeout of each phase of a start, and of a change, in milliseconds. */
const startMs = 10_000
/**
 * Number of confirmations per lease. Without confirmation for a whole lease, a process assumes that its controller no
 * longer leads.
 */
const confirmationsPerLease = 6
/** Maximum time until a killed process has ended, in milliseconds. */
const killMs = 2_000

/** One media process, from its start to its exit. */
export class ProcessRun {
  readonly #options: ProcessRunOptions
  readonly client: ControlClient
  /** Settings of the process as JSON; empty while unknown. */
  #settings = ''
  #transcoders = 0
  #upSince = performance.now()
  #leading: NodeJS.Timeout | undefined
  #endWatch: () => void = () => {}

  /** @param exited called once, with the reason in plain words */
  constructor(options: ProcessRunOptions, exited: (why: string) => void) {
    this.#options = options
    const { spawn, ffmpeg, logger, handlers } = options
    const runs = new FfmpegRuns({
      ffmpeg,
      tell: (message) => this.client.tellFfmpeg(message),
      transcoders: () => this.#transcoders,
      logger,
    })
    this.client = new ControlClient(
      spawn(),
      { ...handlers, ffmpeg: (message) => runs.take(message) },
      (why) => {
        runs.endAll()
        this.endTimers()
        exited(why)
      },
      logger,
    )
  }

  /** Milliseconds since the process started to listen. */
  get upMs(): number {
    return performance.now() - this.#upSince
  }

  /**
   * Makes the process listen. A process that fails is killed.
   * @param start returns the first request; called when the process accepts requests
   * @throws DeadlineError; the error of the request
   */
  async listen(start: () => MediaStart): Promise<ControlResult<'start'>> {
    const { signal } = this.#options
    const limits = { milliseconds: startMs, signal }
    try {
      await within(limits, () => this.client.hello)
      const request = start()
      this.#transcoders = request.settings.transcoders
      const ports = await within(limits, (limited) => this.client.link.request('start', request, limited))
      this.#settings = JSON.stringify(request.settings)
      this.#upSince = performance.now()
      this.#watch()
      this.#confirmLead(request.settings)
      return ports
    } catch (error) {
      this.client.kill()
      throw error
    }
  }

  /** Sends settings to the process, unless it already has them. */
  async configure(settings: MediaSettings): Promise<void> {
    const text = JSON.stringify(settings)
    if (text === this.#settings) return
    this.#settings = text
    this.#transcoders = settings.transcoders
    this.#confirmLead(settings)
    const limits = { milliseconds: startMs, signal: this.#options.signal }
    try {
      await within(limits, (signal) => this.client.link.request('set_settings', settings, signal))
    } catch (error) {
      // Makes the next call send the settings even if they are equal.
      this.#settings = ''
      this.#options.logger.warn({ err: error }, 'the embedded node did not take its settings')
    }
  }

  /** Sends a change to the process. Any later process receives the change at its start. */
  async tell<M extends ControlMethod>(method: M, params: ControlParams<M>): Promise<void> {
    const limits = { milliseconds: startMs, signal: this.#options.signal }
    try {
      await within(limits, (signal) => this.client.link.request(method, params, signal))
    } catch (error) {
      this.#options.logger.warn({ err: error, method }, 'the embedded node did not take a change')
    }
  }

  /** Ends the process: in an orderly way within `milliseconds`, then by killing it. */
  async end(milliseconds: number): Promise<void> {
    const { client } = this
    client.stop()
    try {
      await within({ milliseconds: Math.max(1, milliseconds) }, () => client.exited)
    } catch {
      client.kill()
      // SIGKILL cannot be ignored, so the process ends soon after this timeout at the latest.
      await within({ milliseconds: killMs }, () => client.exited).catch(() => {})
    }
  }

  /** Stops the hang detection and the confirmations. */
  endTimers(): void {
    this.#endWatch()
    clearInterval(this.#leading)
  }

  /**
   * Confirms periodically that this controller leads. The process ends if it gets no confirmation for a whole lease.
   */
  #confirmLead({ lease_ms: leaseMs }: MediaSettings): void {
    clearInterval(this.#leading)
    if (leaseMs === 0) return
    // A process that does not answer is detected and killed by `#watch`.
    const confirm = (): void => void this.client.link.request('leads', {}, this.#options.signal).catch(() => {})
    this.#leading = setInterval(confirm, leaseMs / confirmationsPerLease).unref()
  }

  /** Kills the process when it hangs, so that the supervisor replaces it. */
  #watch(): void {
    const { logger, hangsAfterMs, signal } = this.#options
    const { client } = this
    this.#endWatch = watchLiveness(
      {
        ask: () => client.link.request('health', {}, signal),
        receivedAt: () => client.lastHeard,
        onHang: () => {
          logger.error({ pid: client.pid }, 'embedded node hangs: restarting it')
          client.kill()
        },
      },
      hangsAfterMs,
    )
  }
}

/** A process whose liveness is watched. */
interface Watched {
  /** Sends any request to the process. */
  ask(): Promise<unknown>
  /** Returns the time of the last message of the process, on any clock. */
  receivedAt(): number
  /** Called when the process counts as hanging. */
  onHang(): void
}

/**
 * Watches whether a process still sends messages, and periodically sends it a request. Silence is measured in checks,
 * not by the clock. A pause of this process (e.g. a suspended computer) therefore does not count as silence of the
 * watched process.
 * @param hangsAfterMs milliseconds without a message, in spite of requests, that count as a hang. The hang is reported
 * up to two checks (two fifths of `hangsAfterMs`) later.
 * @returns a function that stops watching
 */
function watchLiveness(watched: Watched, hangsAfterMs: number): () => void {
  let receivedAt = watched.receivedAt()
  let asked = false
  let silentLooks = 0
  const look = (): void => {
    const latest = watched.receivedAt()
    // Silence counts only while a request is pending.
    silentLooks = asked && latest === receivedAt ? silentLooks + 1 : 0
    receivedAt = latest
    if (silentLooks >= looksUntilHang) {
      clearInterval(timer)
      watched.onHang()
      return
    }
    asked = true
    // The next check detects the answer; its content is irrelevant.
    watched.ask().catch(() => {})
  }
  const timer = setInterval(look, hangsAfterMs / looksUntilHang)
  timer.unref()
  return () => clearInterval(timer)
}
