// Checks the types of everything: tsc for Node's half, vue-tsc for the page's.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { requireNode } from './node-version.mjs'

await requireNode()
const root = join(import.meta.dirname, '..')

/**
 * Checks one project, and only what changed since the last run: the state is kept in `node_modules/.cache`.
 * @param {string} compiler @param {string} project @returns {boolean} whether it found nothing
 */
function check(compiler, project) {
  const state = join(root, 'node_modules', '.cache', 'types', `${project.replaceAll('/', '-')}.tsbuildinfo`)
  const arguments_ = ['--noEmit', '-p', project, '--incremental', '--tsBuildInfoFile', state]
  const { status } = spawnSync(process.execPath, [join(root, 'node_modules', compiler), ...arguments_], {
    cwd: root,
    stdio: 'inherit',
  })
  return status === 0
}

const node = check('typescript/bin/tsc', 'tsconfig.json')
const page =
  !existsSync(join(root, 'renderer', 'tsconfig.json')) || check('vue-tsc/bin/vue-tsc.js', 'renderer/tsconfig.json')
process.exitCode = node && page ? 0 : 1
