import type { BrowserWindow } from 'electron'
import type { Logger } from 'pino'
import { mustNotFail } from '../../shared/unawaited.ts'

/** Waits before a page is loaded again, in milliseconds: the first, and the longest, to which it doubles. */
const waitMs = { first: 1_000, longest: 30_000 }
/** Time that a page must run before the waits begin anew, in milliseconds. */
const healthyMs = 60_000
/** Interval between two questions whether the page still runs, and the time within which it answers, in milliseconds. */
const askMs = { every: 10_000, answer: 20_000 }

/** Loads a page that nobody operates, and loads it again by itself whenever it fails, crashes or hangs. */
export function keepLoaded(window: BrowserWindow, url: string, logger: Logger): void {
  const contents = window.webContents
  let failures = 0
  let loadedAt = 0
  let again: NodeJS.Timeout | undefined
  /** Runs while a question is under way. */
  let late: NodeJS.Timeout | undefined

  const load = (): void => {
    loadedAt = performance.now()
    // did-fail-load reports a failure.
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
    // A page that hangs does not reload: its process ends, and the page is loaded in another (`render-process-gone`).
    contents.forcefullyCrashRenderer()
  }
  const stopAsking = (): void => {
    clearTimeout(late)
    late = undefined
  }
  /** Electron notices only a page that does not take input, and a wall is given none. */
  const ask = async (): Promise<void> => {
    if (late !== undefined || window.isDestroyed() || contents.isCrashed()) return
    const timer = setTimeout(hangs, askMs.answer)
    late = timer
    // An answer of any kind will do.
    await contents.executeJavaScript('0').catch(() => undefined)
    if (late === timer) stopAsking()
  }

  contents.on('did-fail-load', (_event, code, description, _url, isMainFrame) => {
    // -3: another load took its place.
    if (!isMainFrame || code === -3) return
    logger.error({ code, description }, 'the page of a wall was not loaded')
    loadLater()
  })
  contents.on('render-process-gone', (_event, { reason, exitCode }) => {
    // The question of a process that is gone has no answer.
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
