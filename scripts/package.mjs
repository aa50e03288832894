// Builds the desktop app and hands it to electron-builder, with the flags of its command line.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { ensureBuild } from './ensure-build.mjs'
import { requireNode } from './node-version.mjs'

await requireNode()
const root = join(import.meta.dirname, '..')
try {
  await ensureBuild()
} catch (error) {
  console.error(error.message)
  process.exit(1)
}
const builder = join(root, 'node_modules/electron-builder/cli.js')
const { status } = spawnSync(process.execPath, [builder, ...process.argv.slice(2)], { cwd: root, stdio: 'inherit' })
process.exit(status ?? 1)
