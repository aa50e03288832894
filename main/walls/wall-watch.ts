import type { BrowserWindow } from 'electron'
import type { Logger } from 'pino'
import { mustNotFail } from '../../shared/unawaited.ts'

/** First and maximum delay before a page is loaded again, in milliseconds; the delay doubles after each failure. */
const waitMs = { first: 1_000, longest: 30_000 }
/** Time that a page must run before the delay is reset, in milliseconds. */
const healthyMs = 60_000
/** Interval at which the page is checked for hanging, and time limit for the page's response, in milliseconds. */
const askMs = { every: 10_000, answer: 20_000 }

/** Loads a page without an operator, and reloads it automatically when it fails, crashes or hangs. */
export function keepLoaded(window: BrowserWindow, url: string, logger: Logger): void {
  const contents = window.webContents
  let failures = 0
  let loadedAt = 0
  let again: NodeJS.Timeout | undefined
  /** Timer of the current check; undefined: no check is in progress. */
  let late: NodeJS.Timeout | undefined

  const load = (): void => {
    loadedAt = performance.now()
    // `did-fail-load` reports a failure.
    if (!window.isDestroyed()) contents.loadURL(url).catch(() => undefined)
  }
  const loadLater = (): void => {
    if (performance.now() - loadedAt > healthyMs) failures = 0
    clearTimeout(again)
    again = setTimeout(load, Math.min(waitMs.longest, waitMs.first * 2 ** failures))
    failures += 1
  }
  const hangs = (): void => {
    if (window.isDestroyed() || contents.isCrashed()) return
    logger.error('the page of a wall does not respond')
    // A hanging page cannot be reloaded. Its process is killed, and `render-process-gone` then reloads the page in a
    // new process.
    contents.forcefullyCrashRenderer()
  }
  const stopAsking = (): void => {
    clearTimeout(late)
    late = undefined
  }
  /**
   * Checks whether the page responds. Electron only detects a hanging page through input events, which a wall does not
   * receive.
   */
  const ask = async (): Promise<void> => {
    if (late !== undefined || window.isDestroyed() || contents.isCrashed()) return
    const timer = setTimeout(hangs, askMs.answer)
    late = timer
    // Any response shows that the page does not hang.
    await contents.executeJavaScript('0').catch(() => undefined)
    if (late === timer) stopAsking()
  }

  contents.on('did-fail-load', (_event, code, description, _url, isMainFrame) => {
    // -3 (ERR_ABORTED): another load replaced this load.
    if (!isMainFrame || code === -3) return
    logger.error({ code, description }, 'the page of a wall was not loaded')
    loadLater()
  })
  contents.on('render-process-gone', (_event, { reason, exitCode }) => {
    // An ended process does not respond to a check in progress.
    stopAsking()
    if (window.isDestroyed()) return
    logger.error({ reason, exitCode }, 'the page of a wall crashed')
    loadLater()
  })
  window.on('unresponsive', hangs)
  const timer = setInterval(() => mustNotFail(ask()), askMs.every)
  window.once('closed', () => {
    clearInterval(timer)
    clearTimeout(again)
    stopAsking()
  })
  load()
}
