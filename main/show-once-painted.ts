import type { BrowserWindow } from 'electron'

/**
 * Times after which a window is shown even if its page has not reported its first paint, in milliseconds. `made`: after
 * the creation of the window; `loaded`: after the end of loading.
 * A busy machine needs up to 10 s for the first paint, so only a page that never finishes loading is shown empty.
 */
const shownAfterMs = { made: 15_000, loaded: 400 }

/**
 * Shows a window when its page has painted. On Wayland `ready-to-show` may never be emitted (electron#48859): the
 * window is then shown after loading, or after 15 s.
 * @param appear shows the window; default: as a normal window
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
