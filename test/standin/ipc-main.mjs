import { strict } from './strict.mjs'

const handlers = new Map()

export const ipcMain = strict('ipcMain', {
  /** Private in Electron, too. */
  _invokeHandlers: handlers,
  handle(channel, handler) {
    if (handlers.has(channel)) throw new Error(`Attempted to register a second handler for '${channel}'`)
    handlers.set(channel, handler)
  },
  removeHandler: (channel) => void handlers.delete(channel),
  /** Stand-in only: handles `invoke` of the page. */
  async _invoke(event, channel, values) {
    const handler = handlers.get(channel)
    if (!handler) throw new Error(`No handler registered for '${channel}'`)
    return structuredClone(await handler(event, ...values))
  },
})
