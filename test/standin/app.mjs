import { spawn } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { mkdirSync, mkdtempSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { ozonePlatform } from './display.mjs'
import { preferredLanguages, resolveLocale } from './locale.mjs'
import { loginItem, setLoginItem } from './login-items.mjs'
import { claimInstance, releaseInstance } from './single-instance.mjs'
import { state } from './state.mjs'
import { strict } from './strict.mjs'

const ready = Promise.withResolvers()
/** Switches appended while the app ran, or given on the command line. */
const appended = new Map()
const given = (name) => process.argv.find((argument) => argument === `--${name}` || argument.startsWith(`--${name}=`))

/** Switch that Chromium adds itself. */
const added = (name) => (name === 'ozone-platform' && process.platform === 'linux' ? ozonePlatform() : undefined)

class App extends EventEmitter {
  isPackaged = false
  name = 'app'
  _version = '0.0.0'
  _folder = process.cwd()
  _paths = new Map()
  _quitting = false
  /** On macOS only. */
  dock = undefined
  commandLine = strict('app.commandLine', {
    appendSwitch: (name, value = '') => void appended.set(name, value),
    hasSwitch: (name) => appended.has(name) || given(name) !== undefined || added(name) !== undefined,
    getSwitchValue: (name) => appended.get(name) ?? given(name)?.slice(name.length + 3) ?? added(name) ?? '',
  })

  /** Stand-in only: sets what Electron reads from package.json. */
  identify({ name, version, path }) {
    this.name = name
    this._version = version
    this._folder = path
  }
  /** Stand-in only: emits `ready`. */
  becomeReady() {
    state.isReady = true
    ready.resolve({})
    this.emit('ready', {}, {})
  }

  whenReady() {
    return ready.promise
  }
  isReady() {
    return state.isReady
  }
  getName() {
    return this.name
  }
  getVersion() {
    return this._version
  }
  getAppPath() {
    return this._folder
  }
  getLocale() {
    const asked = this.commandLine.getSwitchValue('lang')
    return resolveLocale(asked ? [asked] : preferredLanguages())
  }
  getPreferredSystemLanguages() {
    return preferredLanguages()
  }
  getPath(name) {
    if (this._paths.has(name)) return this._paths.get(name)
    if (name === 'exe') return process.execPath
    // On Windows the roaming folder of the user (electron_paths.cc, DIR_APP_DATA); on other systems no test may use the real one.
    if (name === 'appData' && process.platform === 'win32') return process.env.APPDATA
    if (name === 'temp') return tmpdir()
    if (name === 'home') return homedir()
    if (name === 'logs') return join(this.getPath('userData'), 'logs')
    if (name === 'crashDumps') return join(this.getPath('userData'), 'Crashpad')
    if (name === 'sessionData') return this.getPath('userData')
    if (name !== 'userData') throw new Error(`stand-in: app.getPath('${name}') is not modelled`)
    const given = this.commandLine.getSwitchValue('user-data-dir')
    const usual = () =>
      process.platform === 'win32'
        ? join(this.getPath('appData'), this.name)
        : mkdtempSync(join(tmpdir(), 'roomdesk-user-'))
    const folder = given || usual()
    // The first question for it makes it (electron_paths.cc, `create_dir`).
    mkdirSync(folder, { recursive: true })
    this._paths.set(name, folder)
    return folder
  }
  /** Makes no folder (electron_api_app.cc, `App::SetPath`). Paths below `userData` follow it. */
  setPath(name, path) {
    if (!isAbsolute(path)) throw new Error('Path must be absolute')
    if (name !== 'userData') throw new Error(`stand-in: app.setPath('${name}') is not modelled`)
    this._paths.set(name, path)
  }
  disableHardwareAcceleration() {
    if (state.isReady) throw new Error('app.disableHardwareAcceleration() can only be called before app is ready')
  }
  enableSandbox() {
    if (state.isReady) throw new Error('app.enableSandbox() can only be called before app is ready')
    this._sandboxed = true
  }
  requestSingleInstanceLock() {
    return claimInstance(this.getPath('userData'), (argv, folder) => this.emit('second-instance', {}, argv, folder, {}))
  }
  releaseSingleInstanceLock() {
    releaseInstance()
  }
  setLoginItemSettings(settings) {
    setLoginItem(settings)
  }
  getLoginItemSettings(options) {
    return loginItem(options)
  }
  setAppUserModelId() {}
  /** The processes of the pages are Chromium's, and have none of Electron's sandbox. */
  getAppMetrics() {
    return [{ pid: process.pid, type: 'Browser' }]
  }

  quit() {
    if (this._quitting || !this._allows('before-quit')) return
    this._quitting = true
    for (const window of state.windows) window.close()
    if (state.windows.size === 0) this._end()
    // Otherwise a window refused to close; the last one that closes ends the app.
    else this._quitting = false
  }
  /**
   * Starts another app when this one has ended, by default with the same arguments, and with this one's environment. From an AppImage it starts nothing: the helper that waits for the end
   * of this process runs from the mount point (relauncher.cc, `RelaunchAppWithHelper`), which ends with this process, too.
   */
  relaunch({ execPath = join(import.meta.dirname, 'electron'), args = process.argv.slice(1) } = {}) {
    if (this._relaunches || process.env.APPIMAGE !== undefined) return
    this._relaunches = true
    process.once('exit', () => {
      const wait = `while kill -0 ${process.pid} 2>/dev/null; do sleep 0.05; done; exec "$0" "$@"`
      spawn('/bin/sh', ['-c', wait, execPath, ...args], { stdio: 'inherit', detached: true }).unref()
    })
  }
  exit(code = 0) {
    this.emit('quit', {}, code)
    process.exit(code)
  }
  _end() {
    if (this._allows('will-quit')) this.exit(0)
    else this._quitting = false
  }
  _allows(name) {
    let allowed = true
    this.emit(name, { preventDefault: () => (allowed = false) })
    return allowed
  }
}

export const app = strict('app', new App())
state.onLastWindowClosed = () => {
  if (app._quitting) app._end()
  else if (app.listenerCount('window-all-closed') > 0) app.emit('window-all-closed')
  else app.quit()
}
