/**
 * The app's AppUserModelId on Windows, which identifies the installer's shortcut, the taskbar, notifications and the login item. Equals `appId` of
 * electron-builder.yml: with another one, Electron rewrites the shortcut and a pinned icon appears twice.
 */
export const appId = 'desk.roomdesk.Roomdesk'
