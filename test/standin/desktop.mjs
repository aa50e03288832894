// The desktop around the app, without a user. A test that expects a dialog replaces the function and answers it.
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
  showItemInFolder: (path) => say('showItemInFolder', path),
  openPath: async (path) => (existsSync(path) ? '' : 'Failed to open path'),
})

/** Keeps no reports. */
export const crashReporter = strict('crashReporter', { start() {} })

const image = (path) => {
  const isEmpty = !existsSync(path)
  return strict('nativeImage', { _path: path, isEmpty: () => isEmpty, setTemplateImage() {} })
}
export const nativeImage = strict('nativeImage', { createFromPath: image })
