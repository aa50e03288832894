// `electron` for a machine without Electron's binary: the main process on plain Node, the pages in Debian's Chromium.
import { app } from './app.mjs'
import { BrowserWindow } from './browser-window.mjs'
import { connect, launchChromium } from './chromium.mjs'
import { dialog, nativeImage, screen, shell } from './desktop.mjs'
import { ipcMain } from './ipc-main.mjs'
import { safeStorage } from './keychain.mjs'
import { Menu, Tray } from './menu.mjs'
import { nativeTheme } from './native-theme.mjs'
import { Notification } from './notification.mjs'
import { powerMonitor } from './power-monitor.mjs'
import { protocol } from './schemes.mjs'
import { session } from './session.mjs'
import { state } from './state.mjs'
import { utilityProcess } from './utility-process.mjs'
import { followTargets, webContents } from './web-contents.mjs'

/** Starts the browser, and says so as Electron does: Playwright waits for that line. */
export async function startChromium() {
  const { address } = await launchChromium(app.getLocale())
  state.browser = await connect(address)
  void state.browser.closed.then(() => process.exit(0))
  state.browser.listen(followTargets)
  await state.browser.send('Target.setDiscoverTargets', { discover: true })
  process.stderr.write(`DevTools listening on ${address}\n`)
}

export const becomeReady = () => app.becomeReady()

export {
  app,
  BrowserWindow,
  dialog,
  ipcMain,
  Menu,
  Notification,
  nativeImage,
  nativeTheme,
  powerMonitor,
  protocol,
  safeStorage,
  screen,
  session,
  shell,
  Tray,
  utilityProcess,
  webContents,
}
