import { BrowserWindow, type Rectangle } from 'electron'
import type { Logger } from 'pino'
import { origin } from '../app-scheme.ts'
import { secureWebPreferences } from '../hardening.ts'
import { viewerPartition } from '../page-sender.ts'
import { showOncePainted } from '../show-once-painted.ts'
import { isWayOut, mayReachWall } from './wall-keys.ts'
import { keepLoaded } from './wall-watch.ts'

/**
 * On Linux a window is shown as soon as it enters full screen, regardless of `show` (Electron's native_window_views.cc,
 * `SetFullScreen`).
 */
const isShownByKiosk = process.platform === 'linux'

/** Maximum time that macOS needs to leave full screen, in milliseconds. */
const leaveMs = 3_000

export interface WallWindowOptions {
  /** Bounds of the display, in DIP. */
  bounds: Rectangle
  /** Id of the saved view. */
  view: string
  preload: string
  icon: string
  logger: Logger
  /** Whether the app is ending, so that its windows may close. */
  isQuitting: () => boolean
  /** Sends the events of the controller to the window. */
  follow: (window: BrowserWindow) => void
  /** Called when a user leaves the walls with the keyboard. */
  leave: () => void
}

/** Wall: a frameless window that covers a display and cannot be closed accidentally. */
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
    // Without this, the invisible menu of the window would still handle shortcuts on Windows and Linux.
    window.removeMenu()
    window.on('close', (event) => {
      if (!isQuitting()) event.preventDefault()
    })
    window.webContents.on('before-input-event', (event, input) => {
      // Closing the window is deferred until Electron has finished handling the key event.
      if (isWayOut(input)) setImmediate(leave)
      if (!mayReachWall(input)) event.preventDefault()
    })
    follow(window)
    showOncePainted(window, () => (isShownByKiosk ? window.setKiosk(true) : window.show()))
    keepLoaded(window, `${origin}/index.html#/kiosk/${encodeURIComponent(view)}`, logger)
  }

  /** Whether the wall was opened for a display with this position and size. */
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

/** Window that covers a display. */
interface KioskWindow extends Pick<BrowserWindow, 'isDestroyed' | 'destroy' | 'setKiosk'> {
  once: (event: 'leave-full-screen', listener: () => void) => unknown
}

/**
 * Closes a window that covers a display: immediately, or on macOS after the window has left full screen. On macOS,
 * kiosk mode hides the Dock and the menus of the whole app. Electron restores the previous state only when a window
 * leaves kiosk mode (native_window_mac.mm, `SetKiosk`). Walls that are closed together must therefore close in reverse
 * order of opening.
 */
export function closeKiosk(window: KioskWindow): void {
  if (window.isDestroyed()) return
  if (process.platform !== 'darwin') return window.destroy()
  const end = (): void => {
    clearTimeout(timer)
    if (!window.isDestroyed()) window.destroy()
  }
  const timer = setTimeout(end, leaveMs)
  // Deferred until Electron has finished handling the change, during which it still uses the window.
  window.once('leave-full-screen', () => setImmediate(end))
  window.setKiosk(false)
}
