import type { BrowserWindow } from 'electron'
import { eventShownTo } from '../server/console/shown-to-role.ts'
import type { Controller } from '../server/controller/controller.ts'
import { channels } from './channels.ts'
import { roleOf } from './page-sender.ts'

/** Pushes the controller's events to a window until it closes. */
export function pushEvents(controller: Promise<Controller>, window: BrowserWindow): void {
  let stop: (() => void) | undefined
  let closed = false
  window.once('closed', () => {
    closed = true
    stop?.()
  })
  const start = (running: Controller): void => {
    if (closed) return
    stop = running.onEvent((event) => {
      if (!window.webContents.isDestroyed() && !window.webContents.isCrashed())
        window.webContents.send(channels.event, eventShownTo(roleOf(window.webContents), event))
    })
  }
  // The code that starts the controller reports its failure.
  controller.then(start, () => undefined)
}
