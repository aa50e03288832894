// Runs ESLint over the whole project, or over the files named; a warning fails as an error does.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { requireNode } from './node-version.mjs'

await requireNode()
const root = join(import.meta.dirname, '..')
const eslint = join(root, 'node_modules', 'eslint', 'bin', 'eslint.js')
const files = process.argv.length > 2 ? process.argv.slice(2) : ['.']
// The types of the whole project take more than the 4 GB that Node allows by itself.
const heap = '--max-old-space-size=10000'
const child = spawn(process.execPath, [heap, eslint, '--max-warnings', '0', ...files], { cwd: root, stdio: 'inherit' })
child.once('exit', (code) => process.exit(code ?? 1))
