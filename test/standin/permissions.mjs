// Permissions as in Electron (shell/browser/electron_permission_manager.cc): only the check handler answers a query; a page's
// request goes to the check handler and, if that refuses, to the request handler. Without a handler everything is allowed.

/** Chromium's names of permissions, and Electron's names of the same. */
const permissions = {
  geolocation: 'geolocation',
  notifications: 'notifications',
  camera: 'media',
  microphone: 'media',
  'clipboard-read': 'clipboard-read',
  'clipboard-write': 'clipboard-sanitized-write',
  'screen-wake-lock': 'screen-wake-lock',
}

let requestHandler
let checkHandler

export const permissionHandlers = {
  setPermissionRequestHandler: (handler) => void (requestHandler = handler),
  setPermissionCheckHandler: (handler) => void (checkHandler = handler),
  setDevicePermissionHandler() {},
}

/** Asks the app's handlers for the main frame at `url`, by Chromium's name. */
export async function answersOfPermissionHandlers(contents, url) {
  const origin = /^[a-z][\w.+-]*:\/\/[^/?#]*/i.exec(url)?.[0]
  if (origin === undefined) return []
  const ask = async (name) => {
    // Electron passes the origin as a URL, which ends with a slash.
    const details = { embeddingOrigin: `${origin}/`, requestingUrl: url, isMainFrame: true }
    const isChecked = !checkHandler || checkHandler(contents, name, `${origin}/`, details)
    if (isChecked) return true
    const { promise, resolve } = Promise.withResolvers()
    if (requestHandler) requestHandler(contents, name, resolve, { requestingUrl: url, isMainFrame: true })
    else resolve(true)
    if (await promise)
      throw new Error(
        `stand-in: ${name}, which the check handler refuses and the request handler grants, is not modelled`,
      )
    return false
  }
  return Promise.all(Object.entries(permissions).map(async ([chromium, electron]) => [chromium, await ask(electron)]))
}
