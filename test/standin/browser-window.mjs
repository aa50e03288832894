// A window: state that a test can read, around a real page.
import { EventEmitter } from 'node:events'
import { app } from './app.mjs'
import { isWayland } from './display.mjs'
import { screen } from './screen.mjs'
import { state } from './state.mjs'
import { strict } from './strict.mjs'
import { WebContents } from './web-contents.mjs'

let lastId = 0

/** Time in which the system enters or leaves a full screen, in milliseconds. */
const transitionMs = 50

class Window extends EventEmitter {
  static getAllWindows() {
    return [...state.windows]
  }
  static getFocusedWindow() {
    return [...state.windows].findLast((window) => window.isVisible()) ?? null
  }
  static fromWebContents(contents) {
    return contents?._window ?? null
  }

  constructor(options = {}) {
    super()
    if (!state.isReady) throw new Error('Cannot create BrowserWindow before app is ready')
    const { x = 0, y = 0, width = 800, height = 600, show = true, title = '', webPreferences = {} } = options
    const { kiosk = false, frame = true } = options
    this.id = ++lastId
    this._bounds = { x, y, width, height }
    this._title = title
    // On Linux a full screen is shown at once, whatever `show` says (native_window_views.cc, `SetFullScreen`).
    this._visible = show || (kiosk && process.platform === 'linux')
    this._maximized = this._minimized = this._fullScreen = false
    this._kiosk = kiosk
    if (kiosk) this._cover()
    this._frame = frame
    this._menu = true
    const self = strict('BrowserWindow', this)
    state.windows.add(self)
    this._self = self
    this.webContents = new WebContents(self, webPreferences, { width, height })
    app.emit('browser-window-created', {}, self)
    return self
  }

  loadURL(url) {
    return this.webContents.loadURL(url)
  }
  /** Emits the system's event: once each time that it becomes visible. */
  _becomeVisible() {
    if (this._visible) return
    this._visible = true
    this.emit('show')
  }
  show() {
    this._minimized = false
    this._becomeVisible()
  }
  hide() {
    if (!this._visible) return
    this._visible = false
    this.emit('hide')
  }
  focus() {
    // The last one in the set has the focus.
    state.windows.delete(this._self)
    state.windows.add(this._self)
    this.emit('focus')
  }
  isVisible() {
    return this._visible
  }
  isFocused() {
    return Window.getFocusedWindow() === this._self
  }
  getTitle() {
    return this._title
  }
  getBounds() {
    return { ...this._boundsOnScreen(), ...(isWayland() && { x: 0, y: 0 }) }
  }
  _boundsOnScreen() {
    if (this._kiosk) return { ...this._covered }
    return { ...(this._maximized ? screen.getPrimaryDisplay().workArea : this._bounds) }
  }
  getNormalBounds() {
    return { ...this._bounds }
  }
  setBounds(bounds) {
    // A full screen keeps its size.
    if (this._kiosk) return
    const before = this.getNormalBounds()
    Object.assign(this._bounds, bounds)
    if (before.x !== this._bounds.x || before.y !== this._bounds.y) this.emit('move')
    if (before.width === this._bounds.width && before.height === this._bounds.height) return
    this.emit('resize')
    void this.webContents._resize(this._bounds)
  }
  /** Also shows the window, whether its page has painted or not. */
  maximize() {
    this._becomeVisible()
    if (this._maximized) return
    this._maximized = true
    this.emit('maximize')
  }
  unmaximize() {
    if (!this._maximized) return
    this._maximized = false
    this.emit('unmaximize')
  }
  minimize() {
    this._minimized = true
    this.emit('minimize')
  }
  restore() {
    this._minimized = false
    this.emit('restore')
  }
  isMaximized() {
    return this._maximized
  }
  isMinimized() {
    return this._minimized
  }
  isFullScreen() {
    return this._fullScreen || this._kiosk
  }
  isKiosk() {
    return this._kiosk
  }
  /** The system takes a moment for it. On Linux it shows a hidden window. */
  setKiosk(kiosk) {
    if (kiosk && process.platform === 'linux') this._becomeVisible()
    setTimeout(() => {
      if (kiosk === this._kiosk) return
      this._kiosk = kiosk
      if (kiosk) this._cover()
      this.emit(kiosk ? 'enter-full-screen' : 'leave-full-screen')
    }, transitionMs)
  }
  /** Takes the size that the display has now. */
  _cover() {
    this._covered = screen.getDisplayMatching(this._bounds).bounds
  }
  removeMenu() {
    this._menu = false
  }
  /** The system takes a moment for it, as macOS does for its animation. */
  setFullScreen(full) {
    if (full && process.platform === 'linux') this._becomeVisible()
    setTimeout(() => {
      if (full === this._fullScreen) return
      this._fullScreen = full
      this.emit(full ? 'enter-full-screen' : 'leave-full-screen')
    }, transitionMs)
  }
  isDestroyed() {
    return this._closed === true
  }
  close() {
    let allowed = true
    this.emit('close', { preventDefault: () => (allowed = false) })
    if (allowed) this.destroy()
  }
  destroy() {
    if (this._closed) return
    void this.webContents._close()
    this.webContents._onGone()
  }

  _onReadyToShow() {
    // As on Wayland (electron#48859).
    if (this._wasReady || process.env.STANDIN_READY_TO_SHOW === 'never') return
    this._wasReady = true
    this.emit('ready-to-show')
  }
  _onContentsGone() {
    if (this._closed) return
    this._closed = true
    state.windows.delete(this._self)
    this.emit('closed')
    if (state.windows.size === 0) state.onLastWindowClosed()
  }
}

export const BrowserWindow = strict('BrowserWindow', Window)
