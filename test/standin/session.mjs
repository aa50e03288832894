import { strict } from './strict.mjs'

/** Chromium's names of permissions, and Electron's for the same. */
const permissions = {
  geolocation: 'geolocation',
  notifications: 'notifications',
  camera: 'media',
  microphone: 'media',
  'clipboard-read': 'clipboard-read',
  'clipboard-write': 'clipboard-sanitized-write',
}

let requestHandler

export const session = strict('session', {
  defaultSession: strict('session', {
    setPermissionRequestHandler: (handler) => void (requestHandler = handler),
    setPermissionCheckHandler(handler) {
      this._check = handler
    },
    setDevicePermissionHandler(handler) {
      this._device = handler
    },
  }),
})

/** What the app's handler says to each permission; nothing while it has none. */
export async function answersOfPermissionHandler(contents) {
  if (!requestHandler) return []
  const ask = (name) => new Promise((resolve) => requestHandler(contents, name, resolve, {}))
  return Promise.all(Object.entries(permissions).map(async ([chromium, electron]) => [chromium, await ask(electron)]))
}
