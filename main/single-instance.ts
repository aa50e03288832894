import { app } from 'electron'

/**
 * Makes this the one instance for its data: a second launch ends, and the first one is told.
 * @returns false in the second one, which must do nothing more
 */
export function beTheOnlyOne(onSecondLaunch: () => void): boolean {
  if (!app.requestSingleInstanceLock()) {
    app.exit(0)
    return false
  }
  app.on('second-instance', (_event, argv) => {
    // Login starts the app hidden; it stays so when it runs already.
    if (!argv.includes('--hidden')) onSecondLaunch()
  })
  return true
}
