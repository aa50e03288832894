import { inspect } from 'node:util'
import { app } from 'electron'

/** Ends the app with exit code 1 when a command fails in an unexpected way: without a window, it would run on and do nothing. */
export function exitOnFailure(command: Promise<unknown>): void {
  command.catch((error: unknown) => {
    process.stderr.write(`${inspect(error)}\n`)
    app.exit(1)
  })
}
