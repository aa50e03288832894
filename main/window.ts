import { join } from 'node:path'
import { BrowserWindow, type Display, nativeTheme, screen } from 'electron'
import { origin } from './app-scheme.ts'
import { secureWebPreferences } from './hardening.ts'
import type { PreferencesFile } from './preferences.ts'
import { showOncePainted } from './show-once-painted.ts'
import { areWindowsPlaced, placeWindow, smallest } from './window-placement.ts'

/** Time without a change after which a new position or size is stored, in milliseconds. */
const restMs = 400

/** Returns the background color of the page, shown until the page paints. */
const background = () => (nativeTheme.shouldUseDarkColors ? '#0f151b' : '#f4f6f8')

/** The console's window. It is created at the first use, at its last position. */
export class ConsoleWindow {
  readonly #preferences: PreferencesFile
  readonly #preload: string
  readonly #icon: string
  readonly #prepare: (window: BrowserWindow) => void
  #window: BrowserWindow | undefined

  /** @param prepare called with each new window before it loads */
  constructor(options: {
    preferences: PreferencesFile
    folder: string
    icon: string
    prepare: (window: BrowserWindow) => void
  }) {
    this.#preferences = options.preferences
    this.#preload = join(options.folder, 'preload.cjs')
    this.#icon = options.icon
    this.#prepare = options.prepare
  }

  get window(): BrowserWindow | undefined {
    return this.#window
  }

  /** Whether the operator can see the window: it is neither hidden nor minimized. */
  get isVisible(): boolean {
    return this.#window !== undefined && this.#window.isVisible() && !this.#window.isMinimized()
  }

  /** Opens the window. @param options `hidden`: creates the window without showing it */
  open(options: { hidden: boolean }): void {
    if (this.#window !== undefined) return
    const { window: was } = this.#preferences.current
    const primary = screen.getPrimaryDisplay()
    const areas = [primary, ...screen.getAllDisplays().filter(({ id }) => id !== primary.id)].map(
      ({ workArea }) => workArea,
    )
    const window = new BrowserWindow({
      ...placeWindow(was, areas),
      minWidth: smallest.width,
      minHeight: smallest.height,
      show: false,
      title: 'Roomdesk',
      icon: this.#icon,
      backgroundColor: background(),
      webPreferences: secureWebPreferences(this.#preload),
    })
    this.#window = window
    window.on('closed', () => {
      if (this.#window === window) this.#window = undefined
    })
    this.#remember(window)
    this.#prepare(window)
    // Maximizing would show the window, so it is deferred until the window is shown.
    if (was?.maximized === true) window.once('show', () => window.maximize())
    if (!options.hidden) showOncePainted(window)
    // `did-fail-load` reports a failure, and the crash guard repeats the load.
    window.loadURL(`${origin}/index.html`).catch(() => undefined)
  }

  /** Brings the window to the front, or opens it. */
  show(): void {
    if (this.#window === undefined) return this.open({ hidden: false })
    if (this.#window.isMinimized()) this.#window.restore()
    this.#window.show()
    this.#window.focus()
  }

  hide(): void {
    const window = this.#window
    if (window === undefined) return
    // On macOS, hiding a full-screen window would leave a black space.
    if (!window.isFullScreen()) return window.hide()
    window.once('leave-full-screen', () => window.hide())
    window.setFullScreen(false)
  }

  /**
   * Hides the window if it is on this display, which a wall now covers. If the position of the window is unknown, the
   * window stays.
   */
  leaveDisplay({ id }: Pick<Display, 'id'>): void {
    if (!areWindowsPlaced() && screen.getAllDisplays().length > 1) return
    if (this.#window !== undefined && screen.getDisplayMatching(this.#window.getBounds()).id === id) this.hide()
  }

  /** Opens a page of the console by its route, e.g. `/rooms`. */
  go(route: string): void {
    this.show()
    // `did-fail-load` reports a failure.
    this.#window?.loadURL(`${origin}/index.html#${route}`).catch(() => undefined)
  }

  #remember(window: BrowserWindow): void {
    let timer: NodeJS.Timeout | undefined
    // A window that was never shown has no position.
    let seen = false
    window.once('show', () => (seen = true))
    const save = (): void => {
      clearTimeout(timer)
      if (!seen || window.isDestroyed() || window.isMinimized() || window.isFullScreen()) return
      this.#preferences.set({ window: { ...window.getNormalBounds(), maximized: window.isMaximized() } })
    }
    const later = (): void => {
      clearTimeout(timer)
      timer = setTimeout(save, restMs)
      timer.unref()
    }
    window.on('resize', later)
    window.on('move', later)
    window.on('maximize', later)
    window.on('unmaximize', later)
    window.on('hide', save)
    window.on('close', save)
    window.on('closed', () => clearTimeout(timer))
  }
}
