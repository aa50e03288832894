// Gives test/smoke the binary of Electron and a build: it runs on machines that have neither. `npm run smoke -- --help`.
import { electronFolder, electronProgram, noWindow } from './electron-program.mjs'

const { runSmoke } = await import('../test/smoke/run.ts')
const { ensureBuild } = await import('./ensure-build.mjs')
const program = electronProgram()
const electron = program === undefined ? undefined : { program, folder: electronFolder() }
process.exit(
  await runSmoke(process.argv.slice(2), { electron, noWindow: noWindow()?.reason, build: () => ensureBuild() }),
)
