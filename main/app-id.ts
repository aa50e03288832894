/**
 * The app to Windows: its AppUserModelId, under which the installer's shortcut, the taskbar, notifications and the login item are known. It is `appId` of
 * electron-builder.yml: with another one, Electron rewrites the shortcut and a pinned icon is there twice.
 */
export const appId = 'desk.roomdesk.Roomdesk'
