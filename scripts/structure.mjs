// Checks the structure of the code: no circle of files, no file that nothing imports (see .dependency-cruiser.cjs).
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { requireNode } from './node-version.mjs'

await requireNode()
const root = join(import.meta.dirname, '..')
const program = join(root, 'node_modules', 'dependency-cruiser', 'bin', 'dependency-cruiser.mjs')
const folders = ['server', 'main', 'renderer', 'shared']
const child = spawn(process.execPath, [program, '--config', '.dependency-cruiser.cjs', ...folders], {
  cwd: root,
  stdio: 'inherit',
})
child.once('exit', (code) => process.exit(code ?? 1))
