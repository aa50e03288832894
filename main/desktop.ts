import { join } from 'node:path'
import { app, dialog } from 'electron'
import type { Logger } from 'pino'
import type { Controller } from '../server/controller/controller.ts'
import { createLog, RecentLog, standardError, surviveLostOutput } from '../server/observe/log.ts'
import type { Checks } from '../server/readiness/readiness.ts'
import { takeRestarts } from '../server/controller/restarts.ts'
import { serveAppCalls } from './app-calls.ts'
import { declareAppScheme, serveApp } from './app-scheme.ts'
import { denyPermissions, hardenApp } from './hardening.ts'
import { desktopChecks } from './desktop-checks.ts'
import { followDownloads } from './downloads.ts'
import { followInstallers, installedFolder } from './installer-restart.ts'
import { serveCalls } from './ipc.ts'
import type { DataKey } from './key.ts'
import { HeadlessFlagError, readDesktopLaunch, readDesktopSite } from './launch.ts'
import { wasOpenedAtLogin } from './login-item.ts'
import { logFile } from './log-file.ts'
import { MistypedFlagError } from './mistyped-flags.ts'
import { pageSessions } from './page-sender.ts'
import { keepCrashReports, logProcessEnds } from './process-ends.ts'
import { Quit } from './quit.ts'
import { relaunchAfterCrash } from './relaunch.ts'
import type { SandboxState } from './sandbox.ts'
import { Shell } from './shell.ts'
import { GaveUpError, startController } from './start-controller.ts'
import { fill } from '../shared/refusals/template.ts'
import { type Texts, textsFor } from './texts.ts'
import { HalfMovedError } from './move-folder.ts'
import type { UserFolder } from './user-folder.ts'
import { appId } from './app-id.ts'
import { modeFlags, kioskFlag, hiddenFlag } from './start-mode.ts'

const folder = import.meta.dirname
const page = join(folder, '../renderer')
const assets = join(folder, '../../assets')

/** Runs the app with its window, as one instance per user. Must be called before the app is ready. */
export function startDesktop(folder: UserFolder): void {
  declareAppScheme()
  keepCrashReports()
  let shell: Shell | undefined
  const sandbox = hardenApp((error) => shell?.pageNotOpened(error))
  if (!beTheOnlyOne({ show: () => shell?.show(), openWalls: () => shell?.openWalls(), quit: () => app.quit() })) return
  app
    .whenReady()
    .then(async () => await run(sandbox, folder, (made) => (shell = made)))
    .catch((error: unknown) => giveUp(error))
}

async function run(sandbox: SandboxState, userFolder: UserFolder, shows: (shell: Shell) => void): Promise<void> {
  surviveLostOutput()
  if (sandbox === 'refuse') return giveUp(new Error(texts().notAsRoot))
  if (sandbox === 'closed') return giveUp(new Error(texts().noSandbox))
  if (userFolder.error !== undefined) return giveUp(userFolder.error)
  const launch = readDesktopLaunch(process.argv, process.env, app.getPath('userData'), wasOpenedAtLogin())
  const site = launch.site === undefined ? undefined : await readDesktopSite(launch.site)
  const logPath = join(app.getPath('logs'), 'roomdesk.log')
  const recentLog = new RecentLog(app.isPackaged ? logFile(logPath) : standardError())
  const logger = createLog(launch.logLevel, recentLog)
  nameForTaskbar()

  if (userFolder.notice !== undefined) logger.warn(userFolder.notice)
  if (sandbox === 'off') logger.warn('started as root: without the sandbox of Chromium, for tests only')
  logProcessEnds(logger)
  const restarts = takeRestarts(process.env)
  const running: { controller?: Controller; quit?: Quit; shell?: Shell; restart?: Promise<void> } = {}
  const isQuitting = (): boolean => running.quit?.isQuitting ?? false
  relaunchAfterCrash({ logger, restarts, texts, controller: () => running.controller, isQuitting })
  const checks = (key: DataKey): Checks =>
    desktopChecks({
      ...{ sandbox, key, keepsAwake: () => running.shell?.keepsAwake ?? true },
      walls: () => running.shell?.chosenWalls ?? 0,
    })
  const diagnostics = {
    recentLog: () => recentLog.text,
    logFiles: [logPath, `${logPath}.old`],
    crashFolder: app.getPath('crashDumps'),
  }
  const controller = startController({ launch, site, logger, restarts, texts, checks, diagnostics })
  const quit = new Quit(async () => {
    // A failed start has already been shown to the operator, and there is no controller to stop.
    const started = await controller.catch(() => undefined)
    await Promise.all([started?.stop(), running.restart])
  }, logger)
  quit.followShutdown()
  running.quit = quit
  // Replaces Electron's default, which quits: without a window, the tray keeps the app running.
  app.on('window-all-closed', () => undefined)

  const sessions = pageSessions()
  denyPermissions(sessions)
  followDownloads(sessions)
  serveApp(page, sessions, async (request, role) => await (await controller).playRecording(request, role))
  serveCalls(controller, logger)
  const made = new Shell({ launch, logger, folder, assets, controller, isQuitting, runsAgain: restarts.total > 0 })
  serveAppCalls(made.handlers, logger)
  running.shell = made
  const installed = installedFolder()
  if (installed !== undefined)
    followInstallers({
      ...{ logger, folder: installed, isQuitting, prepare: () => made.giveWayToInstaller() },
      wait: (started) => {
        running.restart = started
      },
    })
  shows(made)
  controller
    .then(async (started) => {
      running.controller = started
      await made.follow(started)
    })
    .catch((error: unknown) => giveUp(error, logger))
}

function texts(): Texts {
  return textsFor('system', app.getLocale())
}

function reasonOf(error: unknown): string {
  if (error instanceof HeadlessFlagError) return fill(texts().onlyHeadless, { flag: error.flag })
  if (error instanceof MistypedFlagError) return fill(texts().mistypedFlag, { flag: error.flag, meant: error.meant })
  if (error instanceof HalfMovedError) return fill(texts().halfMoved, { from: error.from, to: error.to })
  return error instanceof Error ? error.message : String(error)
}

/** Shows a fatal error, and quits. */
function giveUp(error: unknown, logger?: Logger): void {
  if (!(error instanceof GaveUpError)) {
    if (logger === undefined) console.error(error)
    else logger.fatal({ err: error }, 'cannot start')
    dialog.showErrorBox(texts().cannotStart, reasonOf(error))
  }
  app.exit(1)
}

/**
 * Assigns the app's id to its windows and notifications. Windows finds the shortcut of the app by this id; other
 * systems identify apps by other files.
 */
export function nameForTaskbar(): void {
  if (process.platform === 'win32') app.setAppUserModelId(appId)
}

/** Actions of the first instance that a second launch can request. */
interface FirstInstance {
  show: () => void
  openWalls: () => void
  quit: () => void
}

/**
 * Makes this the only instance for its data: a second launch exits, and the first instance receives its arguments.
 * @returns false in the second instance, which is exiting
 */
function beTheOnlyOne({ show, openWalls, quit }: FirstInstance): boolean {
  if (!app.requestSingleInstanceLock()) {
    app.exit(0)
    return false
  }
  app.on('second-instance', (_event, argv) => {
    if (argv.includes(modeFlags.quit)) quit()
    else if (argv.includes(kioskFlag)) openWalls()
    // A start at login stays hidden, even if the app is already running.
    else if (!argv.includes(hiddenFlag)) show()
  })
  return true
}
