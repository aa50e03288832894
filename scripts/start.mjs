// Opens the desktop app; without Electron's binary it says so and runs headless instead, in this process.
import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { electronProgram, noWindow } from './electron-program.mjs'
import { requireNode } from './node-version.mjs'

await requireNode()
const root = join(import.meta.dirname, '..')

/** Fetches Electron's binary, with progress; only when somebody watches or asked for it: offline it would cost time for nothing. */
function fetchElectron() {
  console.error(`Fetching Electron's binary, once ("npm run headless" needs none) …`)
  const env = { ...process.env, NODE_USE_ENV_PROXY: '1' }
  spawnSync(process.execPath, [join(root, 'scripts/fetch-electron.mjs')], { stdio: ['ignore', 2, 2], env })
  return electronProgram()
}

const asked = process.argv.includes('--fetch-electron')
if (asked) process.argv = process.argv.filter((argument) => argument !== '--fetch-electron')
let obstacle = noWindow()
let executable = obstacle && !asked ? undefined : electronProgram()
if (!executable && !obstacle)
  obstacle = { reason: "Electron's binary is not here", mend: 'npm start -- --fetch-electron fetches it' }
if (!executable && (asked || (process.stdin.isTTY && !noWindow()))) {
  executable = fetchElectron()
  obstacle = executable
    ? noWindow()
    : { reason: "Electron's binary is not here and could not be fetched", mend: 'what to do is said above' }
}

if (executable && !obstacle) {
  const { ensureBuild } = await import('./ensure-build.mjs')
  try {
    await ensureBuild()
  } catch (error) {
    console.error(error.message)
    process.exit(1)
  }
  const isWindows = process.platform === 'win32'
  // A terminal sends Ctrl+C to its whole process group: the app would get it twice, and Electron ends at once at the second one.
  const child = spawn(executable, [root, ...process.argv.slice(2)], { stdio: 'inherit', detached: !isWindows })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => void (!isWindows && child.kill(signal)))
  child.once('error', (error) => {
    console.error(`Cannot run ${executable}: ${error.message}`)
    process.exit(1)
  })
  child.once('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)))
} else {
  const { reason, mend } = obstacle
  console.error(`${reason} (${mend}): starting headless, open the console's URL in a browser.`)
  await import('./headless.mjs')
}
