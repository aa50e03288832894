import { strict } from './strict.mjs'

const handlers = new Map()

export const ipcMain = strict('ipcMain', {
  /** As in Electron, where it is as private. */
  _invokeHandlers: handlers,
  handle(channel, handler) {
    if (handlers.has(channel)) throw new Error(`Attempted to register a second handler for '${channel}'`)
    handlers.set(channel, handler)
  },
  removeHandler: (channel) => void handlers.delete(channel),
  /** The stand-in's own: what `invoke` in the page comes to. */
  async _invoke(event, channel, values) {
    const handler = handlers.get(channel)
    if (!handler) throw new Error(`No handler registered for '${channel}'`)
    return structuredClone(await handler(event, ...values))
  },
})
