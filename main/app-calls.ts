import { BrowserWindow, ipcMain } from 'electron'
import type { Logger } from 'pino'
import {
  type AppChange,
  type AppInput,
  type AppOutput,
  type AppProcedureName,
  appProcedures,
} from '../shared/app-contract.ts'
import { problemsOf, refusalOfInput } from '../shared/domain/input-problems.ts'
import type { ConsoleResult } from '../shared/domain/outcome.ts'
import { refusal } from '../shared/refusals/refusal.ts'
import { refused, resultOfError } from '../server/console/console-answer.ts'
import { channels } from './channels.ts'
import { isFromOurPage, roleOf } from './page-sender.ts'

/** Handlers of all app procedures, by name. The input has been validated. */
export type AppHandlers = {
  [N in AppProcedureName]: (input: AppInput<N>) => AppOutput<N> | Promise<AppOutput<N>>
}

/** Answers procedure calls from the console's window to the app. Calls from wall windows are rejected. */
export function serveAppCalls(handlers: AppHandlers, logger: Logger): void {
  ipcMain.handle(channels.app, async (event, name: unknown, input: unknown): Promise<ConsoleResult<unknown>> => {
    if (!isFromOurPage(event) || roleOf(event.sender) !== 'admin') {
      logger.warn({ origin: event.senderFrame?.origin }, 'refused a call to the app that the console did not make')
      throw new Error('Only the console may call.')
    }
    if (typeof name !== 'string' || !isAppProcedure(name))
      return refused(refusal('procedureNotFound', { procedure: JSON.stringify(String(name).slice(0, 80)) }))
    return await answer(handlers, name, input, logger)
  })
}

async function answer<N extends AppProcedureName>(
  handlers: AppHandlers,
  name: N,
  input: unknown,
  logger: Logger,
): Promise<ConsoleResult<unknown>> {
  const parsed = appProcedures[name].input.safeParse(input)
  if (!parsed.success) {
    const problems = problemsOf(parsed.error, input)
    return refused(refusalOfInput(problems), problems)
  }
  try {
    // The schema was selected by this name, but TypeScript cannot derive the type.
    return { ok: true, value: await handlers[name](parsed.data as AppInput<N>) }
  } catch (error) {
    const known = resultOfError(error)
    if (known !== undefined) return known
    logger.error({ err: error, procedure: name }, 'a call to the app failed')
    return refused(refusal('unexpected'))
  }
}

function isAppProcedure(name: string): name is AppProcedureName {
  return Object.hasOwn(appProcedures, name)
}

/** Notifies the console's windows that a part of the app has changed. */
export function pushAppChange(part: AppChange): void {
  for (const window of BrowserWindow.getAllWindows()) {
    const { webContents } = window
    if (!window.isDestroyed() && !webContents.isCrashed() && roleOf(webContents) === 'admin')
      webContents.send(channels.appChange, part)
  }
}
