// A page: one Chromium target, driven over DevTools, with the preload in an isolated world.
import { EventEmitter } from 'node:events'
import { readFileSync } from 'node:fs'
import { app } from './app.mjs'
import { ignoreDisconnected } from './chromium.mjs'
import { codec } from './codec.mjs'
import { ipcMain } from './ipc-main.mjs'
import { nativeTheme, onThemeChange } from './native-theme.mjs'
import { followDownload } from './downloads.mjs'
import { answersOfPermissionHandlers } from './permissions.mjs'
import { session } from './session.mjs'
import { askHandler, fromWire, toWire } from './schemes.mjs'
import { state } from './state.mjs'
import { strict } from './strict.mjs'
import { isolatedWorld, mainWorld } from './worlds.mjs'

const { encode, decode } = codec()
const isolatedName = 'Electron Isolated Context'
const all = new Set()
let lastId = 0

onThemeChange(() => all.forEach((contents) => contents._applyTheme()))

/** A cancellable event, with the fields that the app reads. */
function cancellable(fields) {
  const event = { ...fields, defaultPrevented: false, preventDefault: () => void (event.defaultPrevented = true) }
  return event
}

export class WebContents extends EventEmitter {
  constructor(window, preferences, size) {
    super()
    this.id = ++lastId
    this.session = preferences.partition ? session.fromPartition(preferences.partition) : session.defaultSession
    this._window = window
    this._preferences = preferences
    this._size = size
    this._url = ''
    /** Counts the documents of its main frame. */
    this._document = 0
    this._openHandler = () => ({ action: 'allow' })
    const self = strict('webContents', this)
    all.add(self)
    this._attached = self._attach()
    this._attached.catch(ignoreDisconnected)
    app.emit('web-contents-created', {}, self)
    return self
  }

  async _attach() {
    const { width, height } = this._size
    const { targetId } = await state.browser.send('Target.createTarget', {
      url: 'about:blank',
      newWindow: true,
      width,
      height,
    })
    this._targetId = targetId
    const { sessionId } = await state.browser.send('Target.attachToTarget', { targetId, flatten: true })
    this._devtools = state.browser.session(sessionId)
    this._devtools.listen((method, params) => void this._onDevtools(method, params).catch(ignoreDisconnected))
    const send = this._devtools.send
    await Promise.all([
      send('Page.enable'),
      send('Runtime.enable'),
      send('Inspector.enable'),
      send('Runtime.addBinding', { name: '__standinWire', executionContextName: isolatedName }),
      send('Fetch.enable', {
        patterns: [{ urlPattern: 'http://*.localhost/*' }, { urlPattern: '*', resourceType: 'Document' }],
      }),
      send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false }),
      this._applyTheme(),
    ])
    const secret = JSON.stringify(crypto.randomUUID())
    await send('Page.addScriptToEvaluateOnNewDocument', { source: `(${mainWorld})(${secret})` })
    const { preload } = this._preferences
    if (!preload) return
    if (!this._preferences.contextIsolation) throw new Error('stand-in: contextIsolation: false is not modelled')
    const wrapped = `function (require, module, exports, process) {\n${readFileSync(preload, 'utf8')}\n}`
    await send('Page.addScriptToEvaluateOnNewDocument', {
      worldName: isolatedName,
      source: `(${isolatedWorld})(${secret}, ${codec}, ${JSON.stringify(process.platform)}, ${wrapped})`,
    })
  }

  async _onDevtools(method, params) {
    switch (method) {
      case 'Runtime.executionContextCreated':
        if (params.context.name === isolatedName && params.context.auxData?.frameId === this._targetId)
          this._isolated = params.context.id
        return
      case 'Runtime.executionContextDestroyed':
        if (params.executionContextId === this._isolated) this._isolated = undefined
        return
      case 'Runtime.bindingCalled':
        if (params.name === '__standinWire' && params.executionContextId === this._isolated) {
          const message = JSON.parse(params.payload)
          if (message.kind === 'open') this._onOpen(message)
          else await this._fromPage(message)
        }
        return
      case 'Page.frameNavigated':
        if (params.frame.parentId) return
        this._crashed = false
        this._document += 1
        this._url = params.frame.url + (params.frame.urlFragment ?? '')
        return void this.emit('did-navigate', {}, this.getURL())
      case 'Page.navigatedWithinDocument':
        if (params.frameId !== this._targetId) return
        this._url = params.url
        return void this.emit('did-navigate-in-page', {}, this.getURL(), true)
      case 'Page.domContentEventFired':
        return void this._window._onReadyToShow()
      case 'Page.loadEventFired':
        this._loaded?.resolve()
        return void this.emit('did-finish-load', {})
      case 'Inspector.targetCrashed':
        this._crashed = true
        this._document += 1
        this._isolated = undefined
        return void this.emit('render-process-gone', {}, { reason: 'crashed', exitCode: 1 })
      case 'Fetch.requestPaused':
        return this._onRequest(params)
    }
  }

  async _onRequest({ requestId, request, resourceType, frameId }) {
    const { send } = this._devtools
    const url = fromWire(request.url)
    const isMainFrame = frameId === this._targetId
    if (resourceType === 'Document' && request.url !== this._expected) {
      const event = cancellable({ url, isMainFrame })
      if (isMainFrame) this.emit('will-navigate', event, url)
      if (!event.defaultPrevented) this.emit('will-frame-navigate', event)
      if (event.defaultPrevented) return send('Fetch.failRequest', { requestId, errorReason: 'Aborted' })
    }
    if (url === request.url) return send('Fetch.continueRequest', { requestId })
    // Browsers request one automatically, Electron does not.
    if (url.endsWith('/favicon.ico')) return send('Fetch.fulfillRequest', { requestId, responseCode: 204 })
    const answer = await askHandler(this.session._partition, url, request)
    if (!answer) return send('Fetch.failRequest', { requestId, errorReason: 'AddressUnreachable' })
    await send('Fetch.fulfillRequest', {
      requestId,
      responseCode: answer.status,
      responseHeaders: [...answer.headers].map(([name, value]) => ({ name, value })),
      body: Buffer.from(await answer.arrayBuffer()).toString('base64'),
    })
  }

  async _fromPage({ id, channel, values }) {
    const from = this._document
    const isGone = () => this._destroyed || this._document !== from
    const event = {
      sender: this,
      type: 'frame',
      /** Null once its frame has navigated or gone, as in Electron. */
      get senderFrame() {
        return isGone() ? null : this.sender.mainFrame
      },
    }
    let text = null
    let failure = null
    try {
      text = encode(await ipcMain._invoke(event, channel, decode(values)))
    } catch (error) {
      failure = String(error)
      console.error(`Error occurred in handler for '${channel}':`, error)
    }
    if (isGone()) return
    await this._inPreload(`__standin.settle(${id}, ${JSON.stringify(text)}, ${JSON.stringify(failure)})`)
  }

  async _inPreload(expression) {
    await this._attached
    if (this._isolated === undefined) return
    await this._devtools.send('Runtime.evaluate', { expression, contextId: this._isolated }).catch(ignoreDisconnected)
  }

  async _applyTheme() {
    const { themeSource } = nativeTheme
    const features = themeSource === 'system' ? [] : [{ name: 'prefers-color-scheme', value: themeSource }]
    await this._devtools?.send('Emulation.setEmulatedMedia', { features }).catch(ignoreDisconnected)
  }

  async _resize({ width, height }) {
    await this._attached
    const metrics = { width, height, deviceScaleFactor: 1, mobile: false }
    await this._devtools.send('Emulation.setDeviceMetricsOverride', metrics).catch(ignoreDisconnected)
  }

  /** Runs before a document of `url`: sets the permissions that its page will find. */
  async _applyPermissions(url) {
    const origin = toWire(url).startsWith('http') ? new URL(toWire(url)).origin : undefined
    if (origin === undefined) return
    for (const [name, allowed] of await answersOfPermissionHandlers(this, url)) {
      const setting = allowed ? 'granted' : 'denied'
      await state.browser.send('Browser.setPermission', { permission: { name }, setting, origin })
    }
  }

  /** The page opens a window. */
  _onOpen({ url, frameName }) {
    const { action } = this._openHandler({ url: fromWire(url), frameName, disposition: 'foreground-tab' })
    if (action !== 'deny') throw new Error('stand-in: a second window is not modelled')
  }

  /** Its target has closed. */
  _onGone() {
    if (this._destroyed) return
    this._destroyed = true
    all.delete(byTarget(this._targetId))
    this.emit('destroyed')
    this._window._onContentsGone()
  }

  async _close() {
    await this._attached.catch(ignoreDisconnected)
    await state.browser.send('Target.closeTarget', { targetId: this._targetId }).catch(ignoreDisconnected)
  }

  get mainFrame() {
    const url = this.getURL()
    const origin = /^[a-z][\w.+-]*:\/\/[^/?#]*/i.exec(url)?.[0] ?? 'null'
    return strict('webFrameMain', { url, origin, parent: null })
  }
  async loadURL(url) {
    await this._attached
    await this._applyPermissions(url)
    this._loaded = Promise.withResolvers()
    this._expected = toWire(url).split('#')[0]
    const { errorText, loaderId } = await this._devtools.send('Page.navigate', { url: toWire(url) })
    if (errorText) {
      this.emit('did-fail-load', {}, -2, errorText, url, true)
      throw new Error(`${errorText} (-2) loading '${url}'`)
    }
    // Without a loader only the fragment changed.
    if (loaderId) await this._loaded.promise
    this._expected = undefined
  }
  reload() {
    this._expected = this._url.split('#')[0]
    void this._devtools.send('Page.reload').catch(ignoreDisconnected)
  }
  send(channel, ...values) {
    const text = encode(structuredClone(values))
    void this._inPreload(`__standin.push(${JSON.stringify(channel)}, ${JSON.stringify(text)})`)
  }
  async executeJavaScript(expression) {
    await this._attached
    const { result, exceptionDetails } = await this._devtools.send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    })
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
    return result.value
  }
  /** Shows the app a key first, as Electron does, then the page. */
  sendInputEvent({ type, keyCode, modifiers = [] }) {
    const [control, alt, shift, meta] = ['control', 'alt', 'shift', 'meta'].map((name) => modifiers.includes(name))
    const key = keyCode.length === 1 && !shift ? keyCode.toLowerCase() : keyCode
    const code = /^[a-z]$/i.test(keyCode) ? `Key${keyCode.toUpperCase()}` : keyCode
    const event = cancellable({})
    this.emit('before-input-event', event, { type, key, code, control, alt, shift, meta, isAutoRepeat: false })
    if (event.defaultPrevented || this._destroyed) return
    const pressed = (alt ? 1 : 0) + (control ? 2 : 0) + (meta ? 4 : 0) + (shift ? 8 : 0)
    const sent = { type: type === 'keyUp' ? 'keyUp' : 'keyDown', key, code, modifiers: pressed }
    void this._devtools.send('Input.dispatchKeyEvent', sent).catch(ignoreDisconnected)
  }
  forcefullyCrashRenderer() {
    void this._devtools.send('Page.crash').catch(ignoreDisconnected)
  }
  getURL() {
    return fromWire(this._url)
  }
  getLastWebPreferences() {
    return { ...this._preferences }
  }
  isDestroyed() {
    return this._destroyed === true
  }
  isCrashed() {
    return this._crashed === true
  }
  setWindowOpenHandler(handler) {
    this._openHandler = handler
  }
  close() {
    this._window.close()
  }
}

/** @param {string} targetId */
function byTarget(targetId) {
  return [...all].find((contents) => contents._targetId === targetId)
}

/** Passes Chromium's events of targets and downloads to their page. */
export function followTargets(method, params) {
  if (method === 'Target.targetDestroyed') byTarget(params.targetId)?._onGone()
  else if (method.startsWith('Browser.download')) followDownload(method, params, session.defaultSession, byTarget)
}

export const webContents = strict('webContents', {
  getAllWebContents: () => [...all],
  fromDevToolsTargetId: byTarget,
})
