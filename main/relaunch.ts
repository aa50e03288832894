import { app, dialog } from 'electron'
import type { Logger } from 'pino'
import type { Controller } from '../server/controller.ts'
import { CrashGuard } from '../server/crash-guard.ts'
import { passRestarts, type Restarts } from '../server/restarts.ts'
import type { Texts } from './texts.ts'

/** What the app's own last resort works with. */
export interface RelaunchOptions {
  logger: Logger
  /** What the app before this one told. */
  restarts: Restarts
  texts: () => Texts
  /** Undefined until it runs. */
  controller: () => Controller | undefined
  isQuitting: () => boolean
}

/** After an error that nobody foresaw the app ends and starts again, as the headless controller does; past the limit it says so and stays closed. */
export function relaunchAfterCrash({ logger, restarts, texts, controller, isQuitting }: RelaunchOptions): void {
  new CrashGuard({
    logger,
    before: restarts,
    ports: () => ({ ...restarts.ports, ...controller()?.ports() }),
    abandon: async () => await controller()?.abandon(),
    runsOn: () => !isQuitting() && (controller() !== undefined || restarts.total > 0),
    startAgain: (next) => {
      // The app that takes its place inherits the environment, as every child does.
      Object.assign(process.env, passRestarts({}, next))
      app.relaunch()
      app.exit(0)
    },
    end: (code, line) => {
      logger.fatal(line)
      dialog.showErrorBox('Roomdesk', texts().crashedForGood)
      app.exit(code)
    },
  }).watch()
}
