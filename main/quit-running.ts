import { sleep } from '../shared/sleep.ts'
import { app } from 'electron'
import { exitOnFailure } from './exit-on-failure.ts'

/** Time within which the running app must end: its store is flushed within 12 s. In milliseconds. */
const maxMs = 20_000
const pauseMs = 200

/**
 * Ends the app that runs for this user, in order, and waits until it has ended: for installers, and by hand (`roomdesk --quit`).
 * Exit code 0: none runs; 1: it did not end within 20 s.
 */
export function quitRunningApp(): void {
  exitOnFailure(quit().then((code) => app.exit(code)))
}

async function quit(): Promise<number> {
  // Each request that is refused hands the arguments of this process, `--quit` among them, to the running app.
  for (const end = performance.now() + maxMs; performance.now() < end; await sleep(pauseMs)) {
    if (app.requestSingleInstanceLock()) return 0
  }
  process.stderr.write('Roomdesk did not end within 20 s.\n')
  return 1
}
