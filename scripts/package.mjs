// Builds the desktop app and hands it to electron-builder, with the flags of its command line and the notes of the release.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensureBuild } from './ensure-build.mjs'
import { requireNode } from './node-version.mjs'
import { releaseNotes } from './release-notes.mjs'

await requireNode()
/** What the app shows before it installs the release. */
const notes = 'dist/release-notes.md'
const root = join(import.meta.dirname, '..')
try {
  await ensureBuild()
} catch (error) {
  console.error(error.message)
  process.exit(1)
}
const read = (name) => readFileSync(join(root, name), 'utf8')
writeFileSync(join(root, notes), `${releaseNotes(read('CHANGELOG.md'), JSON.parse(read('package.json')).version)}\n`)
const builder = join(root, 'node_modules/electron-builder/cli.js')
const { status } = spawnSync(
  process.execPath,
  [builder, `-c.releaseInfo.releaseNotesFile=${notes}`, ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit' },
)
process.exit(status ?? 1)
