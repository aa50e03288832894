// Opens the desktop app; without Electron's binary it says so and runs headless instead, in this process.
import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { electronHome, electronProgram, noWindow } from './electron-program.mjs'
import { requireNode } from './node-version.mjs'

await requireNode()
const root = join(import.meta.dirname, '..')
/** How long fetching Electron's binary may take before this runs headless. */
const fetchDeadlineMs = 120_000

/** Fetches Electron's binary; only when somebody watches or asked for it: offline it would cost time for nothing. */
function fetchElectron() {
  console.error(`Fetching Electron's binary (once; "npm run headless" needs none) …`)
  spawnSync(process.execPath, [join(electronHome, 'install.js')], {
    stdio: ['ignore', 2, 'ignore'],
    timeout: fetchDeadlineMs,
  })
  return electronProgram()
}

const asked = process.argv.includes('--fetch-electron')
if (asked) process.argv = process.argv.filter((argument) => argument !== '--fetch-electron')
let reason = noWindow()
let executable = reason && !asked ? undefined : electronProgram()
if (!executable && !reason) reason = "Electron's binary is not here (npm start -- --fetch-electron fetches it)"
if (!executable && (asked || (process.stdin.isTTY && !noWindow()))) {
  executable = fetchElectron()
  reason = executable ? noWindow() : "Electron's binary is not here and could not be fetched"
}

if (executable && !reason) {
  const { ensureBuild } = await import('./ensure-build.mjs')
  try {
    await ensureBuild()
  } catch (error) {
    console.error(error.message)
    process.exit(1)
  }
  const child = spawn(executable, [root, ...process.argv.slice(2)], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.once('error', (error) => {
    console.error(`Cannot run ${executable}: ${error.message}`)
    process.exit(1)
  })
  child.once('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)))
} else {
  console.error(`${reason}: starting headless, open the console's URL in a browser.`)
  await import('./headless.mjs')
}
