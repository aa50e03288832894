import { app, dialog } from 'electron'
import type { Logger } from 'pino'
import type { Controller } from '../server/controller/controller.ts'
import { CrashGuard } from '../server/bin/crash-guard.ts'
import { passRestarts, type Restarts } from '../server/controller/restarts.ts'
import { startAppImage } from './app-image.ts'
import type { Texts } from './texts.ts'

export interface RelaunchOptions {
  logger: Logger
  restarts: Restarts
  texts: () => Texts
  /** Returns undefined until the controller runs. */
  controller: () => Controller | undefined
  isQuitting: () => boolean
}

/**
 * Restarts the app after an unexpected error, like the headless controller, but only once. After a second error within
 * a minute, shows a message and exits, because an app that keeps restarting is useless.
 */
export function relaunchAfterCrash({ logger, restarts, texts, controller, isQuitting }: RelaunchOptions): void {
  new CrashGuard({
    logger,
    before: restarts,
    ports: () => ({ ...restarts.ports, ...controller()?.listeners.numbers() }),
    abandon: async () => await controller()?.abandon(),
    runsOn: () => !isQuitting() && (controller() !== undefined || restarts.total > 0),
    maxRestarts: 1,
    startAgain: startAppAgain,
    end: (code, line, reason) => {
      logger.fatal(line)
      if (reason === 'repeated') dialog.showErrorBox('Roomdesk', texts().crashedForGood)
      else if (!isQuitting()) dialog.showErrorBox(texts().cannotStart, texts().crashedAtStart)
      app.exit(code)
    },
  }).watch()
}

/** Ends this app gracefully, then starts it again with the same arguments. */
export function restartApp(): void {
  const { APPIMAGE } = process.env
  if (APPIMAGE === undefined) app.relaunch()
  else {
    // The controller has already stopped and released the site.
    app.once('will-quit', (event) => {
      event.preventDefault()
      giveWayTo(APPIMAGE)
    })
  }
  app.quit()
}

/** Ends this app at once and starts it again, with the same arguments and with the record of restarts. */
export function startAppAgain(restarts: Restarts): void {
  // The new process inherits the environment.
  Object.assign(process.env, passRestarts({}, restarts))
  const { APPIMAGE } = process.env
  if (APPIMAGE !== undefined) return giveWayTo(APPIMAGE)
  app.relaunch()
  app.exit(0)
}

/** Starts the file of this AppImage, which an update may have replaced, and ends this app. */
function giveWayTo(appImage: string): void {
  // If this process kept the lock, the new process would exit as a second instance.
  app.releaseSingleInstanceLock()
  startAppImage(appImage, process.argv.slice(1), process.env).then(
    () => app.exit(0),
    (error: unknown) => {
      console.error(`Cannot start ${appImage}:`, error)
      app.exit(1)
    },
  )
}
