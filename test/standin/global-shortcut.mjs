// Keys of the whole system: kept, and pressed by a test.
import { isWayland } from './display.mjs'
import { strict } from './strict.mjs'

const registered = new Map()

export const globalShortcut = strict('globalShortcut', {
  register: (accelerator, callback) => {
    // On Wayland Electron asks the desktop later (XDG portal GlobalShortcuts), and reports success whatever the answer will be.
    if (registered.has(accelerator)) return isWayland()
    registered.set(accelerator, callback)
    return true
  },
  unregister: (accelerator) => void registered.delete(accelerator),
  isRegistered: (accelerator) => registered.has(accelerator),
  /** Stand-in only: somebody presses the keys while another program has the focus. */
  _press: (accelerator) => registered.get(accelerator)?.(),
})
