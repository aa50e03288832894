import { BrowserWindow, type Rectangle } from 'electron'
import type { Logger } from 'pino'
import { origin } from '../app-scheme.ts'
import { secureWebPreferences } from '../hardening.ts'
import { viewerPartition } from '../page-sender.ts'
import { showOncePainted } from '../show-once-painted.ts'
import { isWayOut, mayReachWall } from './wall-keys.ts'
import { keepLoaded } from './wall-watch.ts'

/** On Linux a window is shown as soon as it becomes a full screen, whatever `show` says (Electron's native_window_views.cc, `SetFullScreen`). */
const isShownByKiosk = process.platform === 'linux'

/** Longest time that macOS takes to leave a full screen, in milliseconds. */
const leaveMs = 3_000

/** Parts of one wall. */
export interface WallWindowOptions {
  /** Bounds of the display, in DIP. */
  bounds: Rectangle
  /** Id of the saved view. */
  view: string
  preload: string
  icon: string
  logger: Logger
  /** The app ends: its windows may close. */
  isQuitting: () => boolean
  /** Pushes the events of the controller to the window. */
  follow: (window: BrowserWindow) => void
  /** Called when somebody leaves the walls by the keyboard. */
  leave: () => void
}

/** One wall: a window without a frame that covers a display, and that nobody closes by accident. */
export class WallWindow {
  readonly view: string
  readonly #window: BrowserWindow
  readonly #bounds: Rectangle

  constructor({ bounds, view, preload, icon, logger, isQuitting, follow, leave }: WallWindowOptions) {
    this.view = view
    this.#bounds = bounds
    const window = new BrowserWindow({
      ...bounds,
      show: false,
      frame: false,
      kiosk: !isShownByKiosk,
      title: 'Roomdesk',
      icon,
      backgroundColor: '#000000',
      webPreferences: secureWebPreferences(preload, viewerPartition),
    })
    this.#window = window
    // On Windows and Linux a menu belongs to each window, and its keys would work without it being seen.
    window.removeMenu()
    window.on('close', (event) => {
      if (!isQuitting()) event.preventDefault()
    })
    window.webContents.on('before-input-event', (event, input) => {
      // Not before Electron is done with the key: it closes this window.
      if (isWayOut(input)) setImmediate(leave)
      if (!mayReachWall(input)) event.preventDefault()
    })
    follow(window)
    showOncePainted(window, () => (isShownByKiosk ? window.setKiosk(true) : window.show()))
    keepLoaded(window, `${origin}/index.html#/kiosk/${encodeURIComponent(view)}`, logger)
  }

  /** Tells whether the wall was opened for a display in this place and of this size. */
  isFor({ x, y, width, height }: Rectangle): boolean {
    const own = this.#bounds
    return x === own.x && y === own.y && width === own.width && height === own.height
  }

  focus(): void {
    this.#window.focus()
  }

  destroy(): void {
    closeKiosk(this.#window)
  }
}

/** A window that covers a display. */
interface KioskWindow extends Pick<BrowserWindow, 'isDestroyed' | 'destroy' | 'setKiosk'> {
  once: (event: 'leave-full-screen', listener: () => void) => unknown
}

/**
 * Closes a window that covers a display: at once, or on macOS when it has left its full screen. Kiosk hides the Dock and the menus of the whole app there, and Electron restores the state
 * from before only when a window leaves it (native_window_mac.mm, `SetKiosk`): walls that are closed together end in the reverse order of their opening.
 */
export function closeKiosk(window: KioskWindow): void {
  if (window.isDestroyed()) return
  if (process.platform !== 'darwin') return window.destroy()
  const end = (): void => {
    clearTimeout(timer)
    if (!window.isDestroyed()) window.destroy()
  }
  const timer = setTimeout(end, leaveMs)
  // Not before Electron is done with the change: it uses the window afterwards.
  window.once('leave-full-screen', () => setImmediate(end))
  window.setKiosk(false)
}
