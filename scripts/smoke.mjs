// Tells whether the desktop app works on genuine Electron: `npm run smoke -- --help`.
import { electronFolder, electronProgram, noWindow } from './electron-program.mjs'
import { requireNode } from './node-version.mjs'

await requireNode()
const { runSmoke } = await import('../test/smoke/run.ts')
const { ensureBuild } = await import('./ensure-build.mjs')
const program = electronProgram()
const electron = program === undefined ? undefined : { program, folder: electronFolder() }
process.exit(
  await runSmoke(process.argv.slice(2), { electron, noWindow: noWindow()?.reason, build: () => ensureBuild() }),
)
