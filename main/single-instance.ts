import { app } from 'electron'
import { faceFlags, hiddenFlag, kioskFlag } from './face.ts'

/** Requests of a second launch to the first. */
export interface FirstInstance {
  show: () => void
  openWalls: () => void
  quit: () => void
}

/**
 * Makes this the only instance for its data: a second launch ends, and the first one is notified.
 * @returns false in the second one, which must exit
 */
export function beTheOnlyOne({ show, openWalls, quit }: FirstInstance): boolean {
  if (!app.requestSingleInstanceLock()) {
    app.exit(0)
    return false
  }
  app.on('second-instance', (_event, argv) => {
    if (argv.includes(faceFlags.quit)) quit()
    else if (argv.includes(kioskFlag)) openWalls()
    // A start at login is hidden, also if the app already runs.
    else if (!argv.includes(hiddenFlag)) show()
  })
  return true
}
