import { app, powerMonitor } from 'electron'
import type { Logger } from 'pino'

/** Milliseconds after which the app ends although the store has not said that it is done. */
const maxMs = 12_000

/** Ends the app in order: the controller stops and its store is flushed first, within a deadline. */
export class Quit {
  readonly #logger: Logger
  #state: 'running' | 'stopping' | 'stopped' = 'running'

  /** @param stop stops the controller; it may take its time */
  constructor(stop: () => Promise<void>, logger: Logger) {
    this.#logger = logger
    app.on('before-quit', (event) => {
      if (this.#state === 'stopped') return
      event.preventDefault()
      if (this.#state === 'stopping') return
      this.#state = 'stopping'
      void withDeadline(stop())
        .catch((error: unknown) => logger.error({ err: error }, 'the controller did not stop in order'))
        .finally(() => {
          this.#state = 'stopped'
          app.quit()
        })
    })
  }

  /** True from the moment somebody asked to quit. */
  get isQuitting(): boolean {
    return this.#state !== 'running'
  }

  /**
   * Quits in order when the machine shuts down, or Windows logs the operator off: it asks each window, and ends the app without `before-quit` when none asks for time.
   * Windows goes on when the app has ended. When the app is ready.
   */
  followShutdown(): void {
    app.on('browser-window-created', (_event, window) => {
      window.on('query-session-end', (event) => {
        event.preventDefault()
        app.quit()
      })
    })
    // On Linux the very first listener is not counted, whatever it listens for, and the system waits for none that was not (Electron's power-monitor.ts).
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
