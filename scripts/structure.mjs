// Checks the structure of the code: no circle of files and no file that nothing imports (.dependency-cruiser.cjs), no export that nothing imports (knip.json).
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { requireNode } from './node-version.mjs'

await requireNode()
const root = join(import.meta.dirname, '..')
const packages = join(root, 'node_modules')
const cruiser = join(packages, 'dependency-cruiser', 'bin', 'dependency-cruiser.mjs')
const knip = join(packages, 'knip', 'bin', 'knip.js')

/** Runs a program of a package. @param {string[]} args @returns {Promise<number>} its exit code */
function run(...args) {
  const child = spawn(process.execPath, args, { cwd: root, stdio: 'inherit' })
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)))
}

const codes = await Promise.all([
  run(cruiser, '--config', '.dependency-cruiser.cjs', 'server', 'main', 'renderer', 'shared'),
  run(knip, '--no-progress', '--no-config-hints'),
])
process.exitCode = Math.max(...codes)
