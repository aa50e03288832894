import { join } from 'node:path'
import { app } from 'electron'
import { runHeadless } from '../server/bin/headless-program.ts'
import { faceFlags } from './face.ts'
import { loadDataKey, sealingWith } from './key.ts'
import { spawnMediaProcess } from './media-process.ts'
import { keepCrashReports } from './process-ends.ts'
import { startAppAgain } from './relaunch.ts'

const folder = import.meta.dirname

/** Runs the packaged app as the headless controller, with all of its flags: `roomdesk --headless …`. Called before the app is ready. */
export function startWithoutWindow(): void {
  // Chromium starts without a display, and without a graphics card.
  if (process.platform === 'linux') app.commandLine.appendSwitch('ozone-platform', 'headless')
  app.disableHardwareAcceleration()
  keepCrashReports()
  app.dock?.hide()
  void app.whenReady().then(run)
}

async function run(): Promise<void> {
  await runHeadless({
    flags: headlessFlags(process.argv.slice(app.isPackaged ? 1 : 2)),
    pages: join(folder, '..'),
    spawnMedia: () => spawnMediaProcess(join(folder, '../server/media-node.js')),
    // The same key as the window's: either face opens the site of the other.
    sealing: async (dataFolder) => sealingWith(await loadDataKey(dataFolder)),
    startAgain: startAppAgain,
    followEnd: (stop) => {
      app.on('before-quit', (event) => {
        event.preventDefault()
        stop('quit')
      })
    },
    end: (code) => app.exit(code),
  })
}

/** Switches of Electron and Chromium that may stand among the flags. */
const foreign = /^--(user-data-dir|no-sandbox|disable-gpu|ozone-platform|enable-logging|lang)(=|$)/

/** @param given arguments after the program */
export function headlessFlags(given: readonly string[]): string[] {
  return given.filter((argument) => argument !== faceFlags.headless && !foreign.test(argument))
}
