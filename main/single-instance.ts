import { app } from 'electron'

/**
 * Makes this the only instance for its data: a second launch ends, and the first one is notified.
 * @returns false in the second one, which must exit
 */
export function beTheOnlyOne(onSecondLaunch: () => void): boolean {
  if (!app.requestSingleInstanceLock()) {
    app.exit(0)
    return false
  }
  app.on('second-instance', (_event, argv) => {
    // A start at login is hidden, also if the app already runs.
    if (!argv.includes('--hidden')) onSecondLaunch()
  })
  return true
}
