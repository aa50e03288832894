import { join } from 'node:path'
import { app, dialog } from 'electron'
import { createLog } from '../server/observe/log.ts'
import { declareAppScheme, serveApp } from './app-scheme.ts'
import { denyPermissions, hardenApp } from './hardening.ts'
import { serveCalls } from './ipc.ts'
import { readDesktopLaunch } from './launch.ts'
import { logFile } from './log-file.ts'
import { Quit } from './quit.ts'
import { Shell } from './shell.ts'
import { beTheOnlyOne } from './single-instance.ts'
import { GaveUpError, startController } from './start-controller.ts'
import { textsFor } from './texts.ts'

const folder = import.meta.dirname
const page = join(folder, '../renderer')
const assets = join(folder, '../../assets')

declareAppScheme()
hardenApp()
let shell: Shell | undefined
if (beTheOnlyOne(() => shell?.show())) {
  // Not awaited here: `ready` waits until this module has been evaluated.
  void app.whenReady().then(run).catch(giveUp)
}

function run(): void {
  const launch = readDesktopLaunch(process.argv, process.env, app.getPath('userData'))
  const logger = app.isPackaged
    ? createLog(launch.logLevel, logFile(join(app.getPath('logs'), 'roomdesk.log')))
    : createLog(launch.logLevel)
  process.on('unhandledRejection', (reason) => logger.error({ err: reason }, 'unhandled rejection'))
  if (process.platform === 'win32') app.setAppUserModelId('desk.room.roomdesk')

  const controller = startController(launch, logger, () => textsFor('system', app.getLocale()))
  const quit = new Quit(async () => {
    const started = await controller.catch(() => undefined)
    await started?.stop()
  }, logger)
  quit.followShutdown()
  // The tray keeps the app when its window is closed.
  app.on('window-all-closed', () => undefined)

  denyPermissions()
  serveApp(page)
  serveCalls(controller, logger)
  const made = new Shell({ launch, logger, folder, assets, controller, isQuitting: () => quit.isQuitting })
  shell = made
  controller.then((started) => made.follow(started)).catch(giveUp)
}

/** The app cannot do its work: says why, and ends. */
function giveUp(error: unknown): void {
  if (!(error instanceof GaveUpError)) {
    console.error(error)
    const message = error instanceof Error ? error.message : String(error)
    dialog.showErrorBox(textsFor('system', app.getLocale()).cannotStart, message)
  }
  app.exit(1)
}
