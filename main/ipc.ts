import { ipcMain, type BrowserWindow } from 'electron'
import type { Logger } from 'pino'
import { isProcedureName, procedures } from '../shared/console/contract.ts'
import type { ConsoleResult } from '../shared/domain/outcome.ts'
import { refused } from '../server/console/console-answer.ts'
import { refusal } from '../shared/refusals/refusal.ts'
import type { Controller } from '../server/controller/controller.ts'
import { channels } from './channels.ts'
import { allowRoomPage } from './hardening.ts'
import { isFromOurPage, roleOf } from './page-sender.ts'
import { eventShownTo } from '../server/console/caller-permissions.ts'

/** Maximum size of a call's input, in characters of JSON: enough for a CSV import of 4 MiB, escaped. */
const maxInput = 10 * 1024 * 1024

/** Maximum number of concurrent calls of the page. */
const maxCalls = 256

/**
 * Answers the page's procedure calls. Calls made before the controller runs are delayed until it runs.
 * @param controller resolves when the controller runs
 */
export function serveCalls(controller: Promise<Controller>, logger: Logger): void {
  let underWay = 0
  ipcMain.handle(channels.call, async (event, name: unknown, input: unknown): Promise<ConsoleResult<unknown>> => {
    if (!isFromOurPage(event)) {
      logger.warn({ origin: event.senderFrame?.origin }, 'refused a call that the console did not make')
      throw new Error('Only the console may call.')
    }
    if (typeof name !== 'string' || !isProcedureName(name))
      return refused(
        refusal('procedureNotFound', {
          procedure: typeof name === 'string' ? JSON.stringify(name.slice(0, 80)) : typeof name,
        }),
      )
    if (!fits(input)) return refused(refusal('inputTooLarge'))
    if (underWay >= maxCalls) return refused(refusal('tooManyCalls'))
    underWay += 1
    try {
      const result = await (await controller).dispatch(name, input, {
        transport: 'ipc',
        client: '',
        role: roleOf(event.sender),
      })
      if (name === 'media.join_now') allowIssued(result)
      return result
    } finally {
      underWay -= 1
    }
  })
}

/** Lets the page open a room page if `result` contains the URL of one. */
function allowIssued(result: ConsoleResult<unknown>): void {
  const issued = result.ok ? procedures['media.join_now'].output.safeParse(result.value) : undefined
  if (issued?.success) allowRoomPage(issued.data.url)
}

function fits(input: unknown): boolean {
  if (input === undefined) return true
  try {
    return JSON.stringify(input).length <= maxInput
  } catch {
    // A value that cannot be converted to JSON is invalid for every procedure.
    return false
  }
}

/** Sends the controller's events to a window until it closes. */
export function pushEvents(controller: Promise<Controller>, window: BrowserWindow): void {
  let stop: (() => void) | undefined
  let closed = false
  window.once('closed', () => {
    closed = true
    stop?.()
  })
  const start = (running: Controller): void => {
    if (closed) return
    stop = running.hub.listen((event) => {
      if (!window.webContents.isDestroyed() && !window.webContents.isCrashed())
        window.webContents.send(channels.event, eventShownTo(roleOf(window.webContents), event))
    })
  }
  // A failed start is reported by the code that starts the controller.
  controller.then(start, () => undefined)
}
