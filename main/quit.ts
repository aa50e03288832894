import { app, powerMonitor } from 'electron'
import type { Logger } from 'pino'

/** Time after which the app ends even if the store has not finished, in milliseconds. */
const maxMs = 12_000
/**
 * Shorter time at a shutdown on Linux, in milliseconds. logind waits for 5 s (logind.conf(5), InhibitDelayMaxSec), then
 * ends the session with its display.
 */
const maxShutdownMs = 4_000

/** Ends the app gracefully: before the app quits, stops the controller and flushes its store, within a time limit. */
export class Quit {
  readonly #logger: Logger
  readonly #deadline = new Deadline(maxMs)
  #state: 'running' | 'stopping' | 'stopped' = 'running'

  /** @param stop stops the controller */
  constructor(stop: () => Promise<void>, logger: Logger) {
    this.#logger = logger
    app.on('before-quit', (event) => {
      if (this.#state === 'stopped') return
      event.preventDefault()
      if (this.#state === 'stopping') return
      this.#state = 'stopping'
      this.#deadline
        .limit(stop())
        .catch((error: unknown) => logger.error({ err: error }, 'the controller did not stop in order'))
        .finally(() => {
          this.#state = 'stopped'
          app.quit()
        })
    })
  }

  get isQuitting(): boolean {
    return this.#state !== 'running'
  }

  /**
   * Quits gracefully when the machine shuts down, or when Windows logs the operator off: Windows then asks each window,
   * and ends the app without `before-quit`.
   * A visible window requests more time, and Windows continues when the app has ended. Windows kills an app that
   * requests time without a visible window (WM_QUERYENDSESSION); such an app flushes its store at once, and Windows
   * ends it.
   * Must be called when the app is ready.
   */
  followShutdown(): void {
    app.on('browser-window-created', (_event, window) => {
      window.on('query-session-end', (event) => {
        if (!window.isVisible()) return
        event.preventDefault()
        app.quit()
      })
      window.on('session-end', () => app.quit())
    })
    // Electron on Linux does not count the first listener of any event, and delays a shutdown only for counted
    // listeners (Electron's power-monitor.ts). This listener therefore has to be added first.
    powerMonitor.on('resume', () => this.#logger.info('the machine runs again after it was suspended'))
    powerMonitor.on('shutdown', (event?: { preventDefault: () => void }) => {
      event?.preventDefault()
      if (process.platform === 'linux') this.#deadline.shorten(maxShutdownMs)
      app.quit()
    })
  }
}

/** Time limit that can be shortened while the work runs. */
class Deadline {
  readonly #expired = Promise.withResolvers<never>()
  #ms: number
  #timer: NodeJS.Timeout | undefined

  /** @param ms milliseconds from the start of the work */
  constructor(ms: number) {
    this.#ms = ms
  }

  /** Resolves when the work has completed. @throws Error if the time has passed; errors of the work */
  async limit(work: Promise<void>): Promise<void> {
    this.#start()
    try {
      await Promise.race([work, this.#expired.promise])
    } finally {
      clearTimeout(this.#timer)
    }
  }

  /** @param ms milliseconds from now, or from the start of the work if that is later */
  shorten(ms: number): void {
    this.#ms = Math.min(ms, this.#ms)
    if (this.#timer !== undefined) this.#start()
  }

  #start(): void {
    clearTimeout(this.#timer)
    const expire = (): void => this.#expired.reject(new Error(`The store was not flushed within ${this.#ms} ms.`))
    this.#timer = setTimeout(expire, this.#ms)
  }
}
