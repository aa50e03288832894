import type { BrowserWindow } from 'electron'
import type { Controller } from '../server/controller/controller.ts'
import { channels } from './channels.ts'

/** Pushes the controller's events to a window for as long as it lives. */
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
        window.webContents.send(channels.event, event)
    })
  }
  // A controller that does not start is told by whoever started it.
  controller.then(start, () => undefined)
}
