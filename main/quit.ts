import { app, powerMonitor } from 'electron'
import type { Logger } from 'pino'

/** Time after which the app ends even if the store has not finished, in milliseconds. */
const maxMs = 12_000

/** Ends the app in order: first stops the controller and flushes its store, within a deadline. */
export class Quit {
  readonly #logger: Logger
  #state: 'running' | 'stopping' | 'stopped' = 'running'

  /** @param stop stops the controller, and may take time */
  constructor(stop: () => Promise<void>, logger: Logger) {
    this.#logger = logger
    app.on('before-quit', (event) => {
      if (this.#state === 'stopped') return
      event.preventDefault()
      if (this.#state === 'stopping') return
      this.#state = 'stopping'
      withDeadline(stop())
        .catch((error: unknown) => logger.error({ err: error }, 'the controller did not stop in order'))
        .finally(() => {
          this.#state = 'stopped'
          app.quit()
        })
    })
  }

  /** True once quitting was requested. */
  get isQuitting(): boolean {
    return this.#state !== 'running'
  }

  /**
   * Quits in order when the machine shuts down, or Windows logs the operator off: the system asks each window, and ends the app without `before-quit`. A visible window asks for time, and
   * Windows continues when the app has ended. An app without a visible window that asks for time is killed (WM_QUERYENDSESSION): it flushes at once, and lets Windows end it.
   * Call it when the app is ready.
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
    // On Linux the very first listener is not counted, for any event, and the system only waits for counted ones (Electron's power-monitor.ts).
    powerMonitor.on('resume', () => this.#logger.info('the machine runs again after it was suspended'))
    powerMonitor.on('shutdown', (event?: { preventDefault: () => void }) => {
      event?.preventDefault()
      app.quit()
    })
  }
}

async function withDeadline(work: Promise<void>): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`The store was not flushed within ${maxMs} ms.`)), maxMs)
  try {
    await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
