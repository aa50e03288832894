// Runs the headless controller in this process, so that its pid, signals and stdout are the controller's own.
import nodeModule from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { requireNode } from './node-version.mjs'

await requireNode()
const root = join(import.meta.dirname, '..')
nodeModule.enableCompileCache(join(root, 'node_modules', '.cache', 'compile'))
const { ensureBuild } = await import('./ensure-build.mjs')
try {
  await ensureBuild()
} catch (error) {
  console.error(error.message)
  process.exit(1)
}
await import(pathToFileURL(join(root, 'dist', 'server', 'headless.js')).href)
