import { app, dialog } from 'electron'
import type { Logger } from 'pino'
import type { Controller } from '../server/controller/controller.ts'
import { CrashGuard } from '../server/bin/crash-guard.ts'
import { passRestarts, type Restarts } from '../server/controller/restarts.ts'
import type { Texts } from './texts.ts'

/** Parts of the app's own last resort. */
export interface RelaunchOptions {
  logger: Logger
  /** Facts from the app before this one. */
  restarts: Restarts
  texts: () => Texts
  /** Undefined until it runs. */
  controller: () => Controller | undefined
  isQuitting: () => boolean
}

/** After an error that nobody foresaw the app ends and starts again, as the headless controller does, but once only: an app that flashes up again and again helps nobody. The second time within a minute it says so and stays closed. */
export function relaunchAfterCrash({ logger, restarts, texts, controller, isQuitting }: RelaunchOptions): void {
  new CrashGuard({
    logger,
    before: restarts,
    ports: () => ({ ...restarts.ports, ...controller()?.ports() }),
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

/** Ends this app; one that is told of the restarts takes its place, with the same arguments. */
export function startAppAgain(restarts: Restarts): void {
  // It inherits the environment, as every child does.
  Object.assign(process.env, passRestarts({}, restarts))
  const { APPIMAGE } = process.env
  // The folder that an AppImage is mounted in goes with the app that ran from it.
  app.relaunch(APPIMAGE === undefined ? {} : { execPath: APPIMAGE, args: process.argv.slice(1) })
  app.exit(0)
}
