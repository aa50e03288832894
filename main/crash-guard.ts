import { type BrowserWindow, dialog } from 'electron'
import type { Logger } from 'pino'
import { inBackground } from '../shared/unawaited.ts'
import type { Texts } from './texts.ts'

/**
 * Maximum number of page reloads within `withinMs`. Beyond this number, a dialog asks the operator, so that a page that
 * always crashes does not reload forever.
 */
const maxReloads = 3
const withinMs = 60_000

export interface PageGuard {
  texts: () => Texts
  logger: Logger
  show: (text: string) => void
}

/**
 * Reloads the page when its process crashes, and shows a notification. The controller runs in the main process and is
 * unaffected.
 */
export function guardAgainstCrashes(window: BrowserWindow, { texts, logger, show }: PageGuard): void {
  let reloads: number[] = []
  const contents = window.webContents

  contents.on('render-process-gone', (_event, { reason, exitCode }) => {
    if (reason === 'clean-exit' || window.isDestroyed()) return
    logger.error({ reason, exitCode }, 'the console page crashed')
    const now = Date.now()
    reloads = [...reloads.filter((at) => now - at < withinMs), now]
    if (reloads.length > maxReloads) return ask(texts().crashedAgain, () => contents.reload())
    contents.reload()
    show(texts().crashed)
  })
  window.on('unresponsive', () => {
    logger.warn('the console page does not respond')
    // A hanging page cannot be reloaded. Its process is killed, and `render-process-gone` then reloads the page in a
    // new process.
    ask(texts().unresponsive, () => contents.forcefullyCrashRenderer())
  })

  function ask(message: string, mend: () => void): void {
    inBackground(askToMend(message, mend), 'the operator could not be asked about the console page', logger)
  }

  async function askToMend(message: string, mend: () => void): Promise<void> {
    const { reload, wait } = texts()
    const buttons = [reload, wait]
    const { response } = await dialog.showMessageBox(window, {
      type: 'warning',
      title: 'Roomdesk',
      message,
      buttons,
      defaultId: 0,
      cancelId: 1,
    })
    if (response === 0 && !window.isDestroyed()) mend()
  }
}
