import { join } from 'node:path'
import { app } from 'electron'
import { endingSignals } from '../server/bin/ending-signals.ts'
import { type HeadlessProgram, runHeadless } from '../server/bin/headless-program.ts'
import { LaunchError } from '../server/bin/launch-options.ts'
import { passRestarts } from '../server/controller/restarts.ts'
import { exitOnFailure } from './process-ends.ts'
import { headlessFlags, modeFlags } from './start-mode.ts'
import { KeychainError, loadDataKey, sealingWith } from './key.ts'
import { logFile } from './log-file.ts'
import { spawnMediaProcess } from './media-process.ts'
import { keepCrashReports } from './process-ends.ts'
import { startAppAgain } from './relaunch.ts'
import { stopMs } from './service/service-plan.ts'
import { programFiles, restartWhenReplaced } from './updates/replaced-program.ts'
import type { UserFolder } from './user-folder.ts'

const folder = import.meta.dirname

/**
 * Runs the packaged app as the headless controller, with all of its flags: `roomdesk --headless …`. Must be called
 * before the app is ready.
 */
export function startWithoutWindow(userFolder: UserFolder): void {
  // Lets Chromium start without a graphics card.
  app.disableHardwareAcceleration()
  keepCrashReports()
  app.dock?.hide()
  // The front process was killed, so it can forward no further signals.
  process.once('disconnect', () => app.quit())
  exitOnFailure(app.whenReady().then(async () => await run(userFolder)))
}

async function run({ error, notice }: UserFolder): Promise<void> {
  if (error !== undefined) {
    process.stderr.write(`${error.message}\n`)
    app.exit(1)
    return
  }
  const isService = process.argv.includes(modeFlags.service)
  if (isService && !followQuitCommand()) return
  const { platform, env } = process
  const { isPackaged } = app
  const files = programFiles({ platform, isPackaged, program: app.getPath('exe'), appImage: env.APPIMAGE })
  await runHeadless({
    flags: headlessFlags(process.argv.slice(app.isPackaged ? 1 : 2)),
    pages: join(folder, '..'),
    spawnMedia: () => spawnMediaProcess(join(folder, '../server/media-node.js')),
    ...(isService ? asService() : asUser),
    crashFolder: app.getPath('crashDumps'),
    notice,
    followEnd: (stop) => {
      app.on('before-quit', (event) => {
        event.preventDefault()
        stop('quit')
      })
      // Electron's own handlers end the process at the second signal (`GracefulShutdownHandler`). systemd sends the
      // signal to this process and to the front process, which forwards it, so two signals arrive.
      if (platform !== 'win32') for (const signal of endingSignals()) process.on(signal, () => app.quit())
    },
    ...(files.length > 0 && {
      followReplacement: (isOccupied, restart) => restartWhenReplaced(files, isOccupied, restart),
    }),
    end: (code) => app.exit(code),
  })
}

/**
 * Parts for a controller started by a user. It uses the same key as the app with a window, so that each mode can open a
 * site created in the other mode.
 */
const asUser: Pick<HeadlessProgram, 'sealing' | 'startAgain'> = {
  sealing: async (dataFolder) => sealingWith(await loadDataKey(dataFolder).catch(refuseKeychain)),
  startAgain: (restarts) => {
    // If there is a front process, it starts the next process.
    if (process.send === undefined) startAppAgain(restarts)
    else process.send(passRestarts(process.env, restarts), () => app.exit(0))
  },
}

/** Converts a keychain error to a LaunchError, which is printed in one line: the operator can unlock a keychain. */
function refuseKeychain(error: unknown): never {
  throw error instanceof KeychainError ? new LaunchError(error.message, { cause: error }) : error
}

/**
 * Returns the parts for a service. A service has no keychain, so its key is a file in its data folder. It exits for a
 * restart: the service manager restarts it, and could not track a process started by the service itself.
 */
function asService(): Pick<HeadlessProgram, 'logTo' | 'logFiles' | 'startAgain'> {
  const log = join(app.getPath('userData'), '..', 'logs', 'roomdesk.log')
  return {
    logTo: logFile(log),
    logFiles: [log, `${log}.old`],
    startAgain: () => app.exit(failedCode),
  }
}

/** Exit code that makes the service manager restart the service (EX_SOFTWARE). */
const failedCode = 70

/**
 * Lets `--quit` end a service gracefully, because on Windows a service receives no signal. The service ends within
 * `stopMs`, the time set for the service manager.
 * @returns false if another service uses this folder; this process is then exiting
 */
function followQuitCommand(): boolean {
  if (!app.requestSingleInstanceLock()) {
    process.stderr.write('The service of Roomdesk runs already.\n')
    app.exit(1)
    return false
  }
  app.on('second-instance', (_event, argv) => {
    if (argv.includes(modeFlags.quit)) app.quit()
  })
  app.once('before-quit', () => setTimeout(() => app.exit(1), stopMs).unref())
  return true
}
