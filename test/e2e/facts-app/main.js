// An app without behaviour of its own: the tests drive it from inside.
import { join } from 'node:path'
import { app, protocol } from 'electron'

const type = { 'content-type': 'text/html' }
const page = '<!doctype html><title>Facts</title><a id="save" download="notes.txt" href="data:text/plain,kept">Save</a>'

protocol.registerSchemesAsPrivileged([{ scheme: 'app', privileges: { standard: true, secure: true } }])
globalThis.preload = join(import.meta.dirname, 'preload.cjs')
app.on('window-all-closed', () => undefined)
void app.whenReady().then(() => protocol.handle('app', () => new Response(page, { headers: type })))
