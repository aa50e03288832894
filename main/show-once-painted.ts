import type { BrowserWindow } from 'electron'

/**
 * Times after which a window is shown even if its page has not reported that it painted: from its making, and from the end of its loading. In milliseconds.
 * A busy machine needs 10 s until a page paints: only one that loads for ever is shown empty.
 */
const shownAfterMs = { made: 15_000, loaded: 400 }

/**
 * Shows a window when its page has painted. On Wayland `ready-to-show` may never come (electron#48859): then when the page has loaded, or after 15 s.
 * @param appear shows it; left out: as a window
 */
export function showOncePainted(window: BrowserWindow, appear = (): void => window.show()): void {
  let shown = false
  const show = (): void => {
    clearTimeout(timer)
    if (shown || window.isDestroyed()) return
    shown = true
    appear()
  }
  const timer = setTimeout(show, shownAfterMs.made)
  window.once('ready-to-show', show)
  window.webContents.once('did-finish-load', () => setTimeout(show, shownAfterMs.loaded))
  window.once('closed', () => clearTimeout(timer))
}
