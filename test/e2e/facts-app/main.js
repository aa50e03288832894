// An app without behaviour of its own: the tests drive it from inside.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { app, protocol } from 'electron'

const type = { 'content-type': 'text/html' }
const page = '<!doctype html><title>Facts</title><a id="save" download="notes.txt" href="data:text/plain,kept">Save</a>'

// Started without a driver: works before it is ready, says so, and ends.
if (process.argv.includes('--facts-alone')) {
  app.commandLine.appendSwitch('ozone-platform', 'headless')
  await promisify(execFile)('true')
  process.stdout.write('evaluated\n')
  void app.whenReady().then(() => {
    process.stdout.write('ready\n')
    app.exit(0)
  })
}

protocol.registerSchemesAsPrivileged([{ scheme: 'app', privileges: { standard: true, secure: true } }])
globalThis.preload = join(import.meta.dirname, 'preload.cjs')
app.on('window-all-closed', () => undefined)
void app.whenReady().then(() => protocol.handle('app', () => new Response(page, { headers: type })))
