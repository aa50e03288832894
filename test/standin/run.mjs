// Works like Electron's own start: reads the switches, loads the `-r` modules, imports the app, looks for a display, then emits `ready`.
import { readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Socket } from 'node:net'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { refuseArgumentAfterUrl } from './command-line.mjs'
import { requireDisplay } from './display.mjs'
import { app, becomeReady, dialog, startChromium } from './electron.mjs'
import { readLocalState } from './keychain.mjs'

const given = process.argv.slice(2)
if (process.env.STANDIN_SYSTEM === 'windows') refuseArgumentAfterUrl(given)
process.execPath = join(import.meta.dirname, 'electron')
process.execArgv = []
process.argv = [process.execPath, ...given]
const required = []
let folder
for (let i = 0; i < given.length && folder === undefined; i++) {
  if (given[i] === '-r' || given[i] === '--require') required.push(given[++i])
  else if (!given[i].startsWith('-')) folder = resolve(given[i])
}
if (folder === undefined) throw new Error('stand-in: no app given')

let entry = folder
if (statSync(folder).isDirectory()) {
  const { name, productName, version, main } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  app.identify({ name: productName ?? name, version, path: folder })
  entry = join(folder, main ?? 'index.js')
}
// Playwright holds the other end: when its process dies, this one ends, too.
if (given.includes('--remote-debugging-port=0')) {
  const end = () => process.exit(1)
  new Socket({ fd: 3 }).once('error', end).once('close', end).unref().resume()
}
// As in Electron's own `init.ts`: an uncaught exception is shown, and the app continues; with a listener the app handles it.
process.on('uncaughtException', (error) => {
  if (process.listenerCount('uncaughtException') > 1) return
  dialog.showErrorBox('A JavaScript error occurred in the main process', `Uncaught Exception:\n${error.stack}`)
})
// Runs before the line that starts Playwright, which calls the functions that its module defines here.
const require = createRequire(import.meta.url)
for (const file of required) require(file)
// As in Electron, `ready` waits for this: a top-level await of whenReady() would hang here too.
await import(pathToFileURL(entry).href)
if (process.platform === 'win32') readLocalState(app.getPath('sessionData'))
requireDisplay(given, process.env)
await startChromium()
// Allows one orderly end, like Electron (electron_browser_main_parts_posix.cc): a second signal of a kind ends it at once.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.once(signal, () => app.quit())
becomeReady()
