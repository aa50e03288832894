/**
 * AppUserModelId of the app on Windows, which identifies the installer's shortcut, the taskbar, notifications and the
 * login item. Must equal `appId` of electron-builder.yml: otherwise Electron rewrites the shortcut and a pinned icon
 * appears twice.
 */
export const appId = 'desk.roomdesk.Roomdesk'

/**
 * Key below `Software` under which electron-builder's installer for Windows stores its folder: the UUID v5 of `appId`
 * in electron-builder's namespace.
 */
export const installKey = '4da761ad-57a4-5b68-bee6-bfc02f47c2be'
