import type { ControlMethod, ControlParams, ControlResult, MediaStart } from '../../../shared/media/control.ts'
import type { MediaSettings } from '../../../shared/media/media-settings.ts'
import { within } from '../port/deadline.ts'
import type { NodeLogger } from '../port/node-failure.ts'
import { ControlClient, type ProcessHandlers } from './control-client.ts'
import { FfmpegRuns } from './ffmpeg/ffmpeg-runs.ts'
import type { LocalFfmpeg } from './ffmpeg/local-ffmpeg.ts'
import type { SpawnMediaProcess } from './media-process.ts'

/** Checks in a row without a message that count as a hang. */
const looksUntilHang = 5

/** Parts of one media process. */
export interface ProcessRunOptions {
  spawn: SpawnMediaProcess
  /** Run for the process, which may start none. */
  ffmpeg: LocalFfmpeg
  logger: NodeLogger
  /** Handlers of its messages, without those about ffmpeg. */
  handlers: Partial<ProcessHandlers>
  /** Silence, although requests are sent, after which the process hangs and is killed, in milliseconds. */
  hangsAfterMs: number
  /** Ends what is under way. */
  signal: AbortSignal
}

/** Deadline of each phase of a start, and of a change, in milliseconds. */
const startMs = 10_000
/** Confirmations within the time after which a process no longer takes its controller for the leader. */
const confirmationsPerLease = 6
/** Time until a killed process is gone, at most, in milliseconds. */
const killMs = 2_000

/** One media process, from its spawn to its exit. */
export class ProcessRun {
  readonly #options: ProcessRunOptions
  readonly client: ControlClient
  /** Settings that it has, as JSON; empty while that is not known. */
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

  /** Milliseconds since it began to listen. */
  get upMs(): number {
    return performance.now() - this.#upSince
  }

  /**
   * Makes it listen. A process that fails is killed.
   * @param start makes its first request, once it takes requests
   * @throws DeadlineError; what the request failed with
   */
  async listen(start: () => MediaStart): Promise<ControlResult<'start'>> {
    const { signal } = this.#options
    const limits = { milliseconds: startMs, signal }
    try {
      await within(limits, () => this.client.hello)
      const request = start()
      this.#transcoders = request.settings.transcoders
      const ports = await within(limits, (limited) => this.client.request('start', request, limited))
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

  /** Sends it settings, unless it has the same. */
  async configure(settings: MediaSettings): Promise<void> {
    const text = JSON.stringify(settings)
    if (text === this.#settings) return
    this.#settings = text
    this.#transcoders = settings.transcoders
    this.#confirmLead(settings)
    const limits = { milliseconds: startMs, signal: this.#options.signal }
    try {
      await within(limits, (signal) => this.client.request('set_settings', settings, signal))
    } catch (error) {
      // The next change is sent whole.
      this.#settings = ''
      this.#options.logger.warn({ err: error }, 'the embedded node did not take its settings')
    }
  }

  /** Sends it a change that the next process gets at its start. */
  async tell<M extends ControlMethod>(method: M, params: ControlParams<M>): Promise<void> {
    const limits = { milliseconds: startMs, signal: this.#options.signal }
    try {
      await within(limits, (signal) => this.client.request(method, params, signal))
    } catch (error) {
      this.#options.logger.warn({ err: error, method }, 'the embedded node did not take a change')
    }
  }

  /** Ends the process: in order within `milliseconds`, then at once. */
  async end(milliseconds: number): Promise<void> {
    const { client } = this
    client.stop()
    try {
      await within({ milliseconds: Math.max(1, milliseconds) }, () => client.exited)
    } catch {
      client.kill()
      // A process that does not answer is ended by the watch over it, and SIGKILL cannot be refused.
      await within({ milliseconds: killMs }, () => client.exited).catch(() => {})
    }
  }

  /** Ends the watch for hangs, and the confirmations. */
  endTimers(): void {
    this.#endWatch()
    clearInterval(this.#leading)
  }

  /** Confirms to the process that this controller leads: without that for too long, it ends. */
  #confirmLead({ lease_ms: leaseMs }: MediaSettings): void {
    clearInterval(this.#leading)
    if (leaseMs === 0) return
    // A process that does not answer is ended by the watch over it, and SIGKILL cannot be refused.
    const confirm = (): void => void this.client.request('leads', {}, this.#options.signal).catch(() => {})
    this.#leading = setInterval(confirm, leaseMs / confirmationsPerLease).unref()
  }

  /** Kills the process when it hangs, so that another takes its place. */
  #watch(): void {
    const { logger, hangsAfterMs, signal } = this.#options
    const { client } = this
    this.#endWatch = watchLiveness(
      {
        ask: () => client.request('health', {}, signal),
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

/** The process that is watched. */
interface Watched {
  /** Asks it for anything. */
  ask(): Promise<unknown>
  /** When it last said anything, on any clock. */
  receivedAt(): number
  /** It said nothing for the whole time. */
  onHang(): void
}

/**
 * Watches whether a process still sends anything, and sends it a request from time to time. Silence is counted in checks, not by the clock, so that a pause of this process (a
 * suspended computer) is not blamed on the other one.
 * @param hangsAfterMs milliseconds of silence, in spite of requests, that count as a hang; reported at most two checks (two fifths of it) later
 * @returns what ends it
 */
function watchLiveness(watched: Watched, hangsAfterMs: number): () => void {
  let receivedAt = watched.receivedAt()
  let asked = false
  let silentLooks = 0
  const look = (): void => {
    const latest = watched.receivedAt()
    // Silence counts only while a request is unanswered.
    silentLooks = asked && latest === receivedAt ? silentLooks + 1 : 0
    receivedAt = latest
    if (silentLooks >= looksUntilHang) {
      clearInterval(timer)
      watched.onHang()
      return
    }
    asked = true
    // The content of the answer does not matter: the next check sees that one came.
    watched.ask().catch(() => {})
  }
  const timer = setInterval(look, hangsAfterMs / looksUntilHang)
  timer.unref()
  return () => clearInterval(timer)
}
