import { rm, writeFile } from 'node:fs/promises'
import { app } from 'electron'
import { insideOf } from '../shared/files/own-path.ts'
import { sleep } from '../shared/sleep.ts'
import { exitOnFailure } from './process-ends.ts'
import { installedFolder } from './installer-restart.ts'
import { requestName } from './quit-requests.ts'

/** Time within which the running app must end: its store is flushed within 12 s. In milliseconds. */
const maxMs = 20_000
const pauseMs = 200

/** Time in which the apps of other users read the request, in milliseconds. */
const readMs = 2_000

/**
 * Ends the app that runs for this user, in order, and waits until it has ended: for installers, and by hand (`roomdesk --quit`). An administrator of Windows ends those of other users, too,
 * which are not waited for.
 * Exit code 0: none runs; 1: it did not end within 20 s.
 */
export function quitRunningApp(): void {
  exitOnFailure(quit().then((code) => app.exit(code)))
}

async function quit(): Promise<number> {
  // The folder of another app, such as that of the service.
  const folder = app.commandLine.hasSwitch('user-data-dir') ? undefined : installedFolder()
  const isAsked = folder !== undefined && (await askOthers(folder))
  try {
    // Each request that is refused hands the arguments of this process, `--quit` among them, to the running app.
    for (const end = performance.now() + maxMs; performance.now() < end; await sleep(pauseMs)) {
      if (app.requestSingleInstanceLock()) return 0
    }
  } finally {
    if (isAsked) {
      await sleep(readMs)
      await rm(insideOf(folder, requestName), { force: true })
    }
  }
  process.stderr.write('Roomdesk did not end within 20 s.\n')
  return 1
}

/** Asks every app of this program. @returns false without the rights of an administrator, or if an installer asks already */
export async function askOthers(folder: string): Promise<boolean> {
  return await writeFile(insideOf(folder, requestName), 'quit\n', { flag: 'wx' }).then(
    () => true,
    () => false,
  )
}
