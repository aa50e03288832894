// Builds the desktop app and hands it to electron-builder, with the flags of its command line and the notes of the release; then signs what describes the release.
// `--update-key` makes the key for that and builds nothing.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ensureBuild } from './ensure-build.mjs'
import { requireNode } from './node-version.mjs'
import { releaseNotes } from './release-notes.mjs'

await requireNode()
const updateKey = await import('../packaging/update-key.ts')
/** What the app shows before it installs the release. */
const notes = 'dist/release-notes.md'
const root = join(import.meta.dirname, '..')

try {
  const { newKey, signWith, rest } = updateKey.readUpdateKeyFlags(process.argv.slice(2), process.env)
  if (newKey === undefined) await pack(updateKey.readSigningKeys(signWith, root), rest)
  else console.log(updateKey.makeUpdateKey(newKey, root))
} catch (error) {
  console.error(error instanceof updateKey.UpdateKeyError ? error.message : error)
  process.exitCode = 1
}

/** @param {import('../packaging/update-key.ts').SigningKeys} keys @param {string[]} flags */
async function pack(keys, flags) {
  await ensureBuild().catch((error) => {
    console.error(error.message)
    process.exit(1)
  })
  const read = (name) => readFileSync(join(root, name), 'utf8')
  writeFileSync(join(root, notes), `${releaseNotes(read('CHANGELOG.md'), JSON.parse(read('package.json')).version)}\n`)
  const builder = join(root, 'node_modules/electron-builder/cli.js')
  const begun = Date.now()
  const { status } = spawnSync(process.execPath, [builder, `-c.releaseInfo.releaseNotesFile=${notes}`, ...flags], {
    cwd: root,
    stdio: 'inherit',
  })
  process.exitCode = status ?? 1
  if (status === 0) console.log(updateKey.signDescriptions(outputOf(flags), keys, root, begun))
}

/** Output folder of electron-builder. @param {string[]} flags */
function outputOf(flags) {
  const given = flags.map((flag) => /^(?:-c|--config)\.directories\.output=(.+)$/s.exec(flag)?.[1]).findLast(Boolean)
  return resolve(root, given ?? 'release')
}
