import { app, crashReporter } from 'electron'
import type { Logger } from 'pino'
import { inspect } from 'node:util'

/**
 * Keeps crash reports on this computer, in the user's folder of the app; nothing is sent. Must be called before the app
 * is ready.
 */
export function keepCrashReports(): void {
  crashReporter.start({ uploadToServer: false })
}

/**
 * Logs processes of the app that end unexpectedly: graphics, network, media node. `guardAgainstCrashes` handles pages.
 */
export function logProcessEnds(logger: Pick<Logger, 'error'>): void {
  app.on('child-process-gone', (_event, { type, name, serviceName, reason, exitCode }) => {
    if (reason === 'clean-exit') return
    logger.error({ type, process: name ?? serviceName, reason, exitCode }, 'a process of the app ended unexpectedly')
  })
}

/**
 * Ends the app with exit code 1 if a command fails unexpectedly. Without this, the app would keep running without a
 * window.
 */
export function exitOnFailure(command: Promise<unknown>): void {
  command.catch((error: unknown) => {
    process.stderr.write(`${inspect(error)}\n`)
    app.exit(1)
  })
}
