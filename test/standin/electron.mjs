// `electron` for a machine without Electron's binary: the main process on plain Node, the pages in Debian's Chromium.
//
// Not imitated, so that no passing test on it proves it:
// - the screen: a real tray, dialogs, notifications, menus and their shortcuts, focus between applications, what a window looks like before its
//   page has painted (only that it was shown too early), Wayland
// - the executable: fuses, reading out of app.asar and its integrity, the sandbox of renderers and utility processes (a flag here), signatures
// - the system: keychains (the ways they go, not the encryption), login items, log-off and shutdown, power events, the firewall, the local
//   network's privacy on macOS, AppArmor
// - Electron's Node: BoringSSL in place of OpenSSL, its own patches, snapshot and memory cage
// - the origin as the page itself sees it: app://roomdesk travels as http://roomdesk.app.localhost
// - keys of a real keyboard that the app takes from the page: only those of `sendInputEvent` and of `globalShortcut._press`
// - a permission that is refused when it is checked and granted when it is asked for: it throws
// - permissions of frames other than the main one, of workers, and of devices
// - a Save dialog that is answered: without a path a download is cancelled
// - files of Chromium's languages: it resolves against `electronLanguages`, and shows no text of Chromium's own
import { app } from './app.mjs'
import { BrowserWindow } from './browser-window.mjs'
import { connect, launchChromium } from './chromium.mjs'
import { crashReporter, dialog, nativeImage, shell } from './desktop.mjs'
import { allowDownloads } from './downloads.mjs'
import { globalShortcut } from './global-shortcut.mjs'
import { ipcMain } from './ipc-main.mjs'
import { safeStorage } from './keychain.mjs'
import { Menu, Tray } from './menu.mjs'
import { nativeTheme } from './native-theme.mjs'
import { net } from './net.mjs'
import { Notification } from './notification.mjs'
import { powerMonitor } from './power-monitor.mjs'
import { powerSaveBlocker } from './power-save.mjs'
import { protocol } from './schemes.mjs'
import { screen } from './screen.mjs'
import { session } from './session.mjs'
import { state } from './state.mjs'
import { utilityProcess } from './utility-process.mjs'
import { followTargets, webContents } from './web-contents.mjs'

/** Starts the browser, and prints the same line as Electron, which Playwright waits for. */
export async function startChromium() {
  const { address } = await launchChromium([...new Set([app.getLocale(), ...app.getPreferredSystemLanguages()])])
  state.browser = await connect(address)
  void state.browser.closed.then(() => process.exit(0))
  state.browser.listen(followTargets)
  await Promise.all([state.browser.send('Target.setDiscoverTargets', { discover: true }), allowDownloads()])
  process.stderr.write(`DevTools listening on ${address}\n`)
}

export const becomeReady = () => app.becomeReady()

export {
  app,
  BrowserWindow,
  crashReporter,
  dialog,
  globalShortcut,
  ipcMain,
  Menu,
  Notification,
  nativeImage,
  nativeTheme,
  net,
  powerMonitor,
  powerSaveBlocker,
  protocol,
  safeStorage,
  screen,
  session,
  shell,
  Tray,
  utilityProcess,
  webContents,
}
