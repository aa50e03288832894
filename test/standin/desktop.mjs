// The desktop around the app: nobody sits in front of it. A test that expects a dialog replaces the function and answers it.
import { EventEmitter } from 'node:events'
import { existsSync } from 'node:fs'
import { strict } from './strict.mjs'

const say = (what, detail) => console.error(`stand-in: ${what}: ${detail}`)

export const dialog = strict('dialog', {
  async showMessageBox(...values) {
    const options = values.at(-1)
    say('nobody answers the message box', options.message)
    return { response: options.cancelId ?? 0, checkboxChecked: false }
  },
  showErrorBox: (title, content) => say(title, content),
})

export const shell = strict('shell', {
  openExternal: async (url) => say('openExternal', url),
  openPath: async (path) => (existsSync(path) ? '' : 'Failed to open path'),
})

class Notice extends EventEmitter {
  static isSupported() {
    return true
  }
  constructor({ title = '', body = '' } = {}) {
    super()
    this.title = title
    this.body = body
    return strict('Notification', this)
  }
  show() {
    this.emit('show', {})
  }
}
export const Notification = strict('Notification', Notice)

const image = (path) => {
  const isEmpty = !existsSync(path)
  return strict('nativeImage', { _path: path, isEmpty: () => isEmpty, setTemplateImage() {} })
}
export const nativeImage = strict('nativeImage', { createFromPath: image })

const area = { x: 0, y: 0, width: 1920, height: 1080 }
const display = {
  id: 1,
  bounds: area,
  workArea: area,
  workAreaSize: { width: area.width, height: area.height },
  scaleFactor: 1,
}
export const screen = strict('screen', { getPrimaryDisplay: () => display, getAllDisplays: () => [display] })

export const powerMonitor = strict('powerMonitor', new EventEmitter())

/** A keychain only where a test asks for one: `STANDIN_KEYCHAIN=1`. It hides nothing, it only goes the same ways. */
const hasKeychain = process.env.STANDIN_KEYCHAIN === '1'
const flip = (bytes) => Buffer.from(bytes.map((byte) => byte ^ 0x5a))
export const safeStorage = strict('safeStorage', {
  isAsyncEncryptionAvailable: async () => true,
  getSelectedStorageBackend: () => (hasKeychain ? 'gnome_libsecret' : 'basic_text'),
  encryptStringAsync: async (text) => Buffer.concat([Buffer.from('v11'), flip(Buffer.from(text))]),
  async decryptStringAsync(bytes) {
    if (!hasKeychain)
      throw new Error('Error while decrypting the ciphertext provided to safeStorage.decryptStringAsync.')
    return { result: flip(bytes.subarray(3)).toString(), shouldReEncrypt: false }
  },
})
