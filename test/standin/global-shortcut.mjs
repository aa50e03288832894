// Keys of the whole system: kept, and pressed by a test.
import { strict } from './strict.mjs'

const registered = new Map()

export const globalShortcut = strict('globalShortcut', {
  register: (accelerator, callback) => {
    // As on Wayland.
    if (process.env.STANDIN_GLOBAL_SHORTCUTS === 'none' || registered.has(accelerator)) return false
    registered.set(accelerator, callback)
    return true
  },
  unregister: (accelerator) => void registered.delete(accelerator),
  isRegistered: (accelerator) => registered.has(accelerator),
  /** Stand-in only: somebody presses the keys while another program has the focus. */
  _press: (accelerator) => registered.get(accelerator)?.(),
})
