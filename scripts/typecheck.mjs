// Checks the types of everything: tsc for Node's half, vue-tsc for the page's.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { requireNode } from './node-version.mjs'

await requireNode()
const root = join(import.meta.dirname, '..')

/** @param {string} script @param {string[]} arguments_ @returns {boolean} whether it found nothing */
function check(script, ...arguments_) {
  const { status } = spawnSync(process.execPath, [join(root, 'node_modules', script), ...arguments_], {
    cwd: root,
    stdio: 'inherit',
  })
  return status === 0
}

const node = check('typescript/bin/tsc', '--noEmit', '-p', 'tsconfig.json')
const page =
  !existsSync(join(root, 'renderer', 'tsconfig.json')) ||
  check('vue-tsc/bin/vue-tsc.js', '--noEmit', '-p', 'renderer/tsconfig.json')
process.exitCode = node && page ? 0 : 1
