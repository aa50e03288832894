/**
 * `npm run dev`: Vite serves console and room page with hot reload, in front of a controller that runs from source with
 * a demo site.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ControllerProcess } from './controller-process.ts'
import { demoSite, fillDemoSite } from './demo-site.ts'
import { startPageServers } from './page-servers.ts'
import { mustNotFail } from '../shared/unawaited.ts'
import { freePorts } from '../test/support/free-port.ts'

const usage = `npm run dev -- [flags]

  --data-dir DIR     folder of the demo site (default: .dev-site, which Git ignores)
  --fresh            delete the demo site and make a new one
  --log-level L      level of the controller's log (default: warn)`

const { values } = parseArgs({
  options: {
    'data-dir': { type: 'string', default: '.dev-site' },
    fresh: { type: 'boolean', default: false },
    'log-level': { type: 'string', default: 'warn' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log(usage)
  process.exit(0)
}

const folder = resolve(values['data-dir'])
if (values.fresh) await rm(folder, { recursive: true, force: true })
await mkdir(folder, { recursive: true, mode: 0o700 })
const siteFile = join(folder, 'dev-site.json')

// The controller keeps its ports when it restarts, so that pages reconnect.
const [media = 0, device = 0, node = 0, consolePort = 0] = await freePorts(4)
const pages = await startPageServers({ console: consolePort, node })
// Join links lead to Vite's room page.
await writeFile(siteFile, JSON.stringify(demoSite(pages.node)))

const flags = [
  ['--data-dir', folder],
  ['--site', siteFile],
  ['--host', '127.0.0.1'],
  ['--log-level', values['log-level']],
  ['--media-port', media],
  ['--device-port', device],
  ['--node-port', node],
  ['--console-port', consolePort],
].flatMap((pair) => pair.map(String))
const controller = new ControllerProcess(flags, () => mustNotFail(announce()))
let isAnnounced = false

/** Fills the site and prints the addresses, or only brings the simulated people back after a restart. */
async function announce(): Promise<void> {
  const key = (await readFile(join(folder, 'console.key'), 'utf8')).trim()
  const { joinLink } = await fillDemoSite(`http://127.0.0.1:${consolePort}`, key)
  if (isAnnounced) return console.log('The controller is ready again.')
  isAnnounced = true
  console.log(`
  Console    ${pages.console}/#key=${key}
  Room page  ${joinLink}
  APIs       http://127.0.0.1:${media} (media), http://127.0.0.1:${device} (devices)
  Data       ${folder} (delete it, or start with --fresh, for a new demo site)

Pages follow each saved file; the controller restarts when server/ or shared/ changes. Ctrl+C stops everything.
`)
}

let isStopping = false
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    if (isStopping) process.exit(1)
    isStopping = true
    mustNotFail(Promise.all([controller.stop(), pages.close()]).then(() => process.exit(0)))
  })
controller.start()
