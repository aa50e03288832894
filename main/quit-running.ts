import { rm, writeFile } from 'node:fs/promises'
import { app } from 'electron'
import { insideOf } from '../shared/files/own-path.ts'
import { sleep } from '../shared/sleep.ts'
import { exitOnFailure } from './process-ends.ts'
import { installedFolder } from './installer-restart.ts'
import { requestName } from './quit-requests.ts'

/** Time within which the running app must end, in milliseconds: its store is flushed within 12 s. */
const maxMs = 20_000
const pauseMs = 200

/** Time in which the apps of other users read the request, in milliseconds. */
const readMs = 2_000

/**
 * Gracefully ends the app running for this user and waits for its end: for installers, and for manual use (`roomdesk
 * --quit`). For an administrator of Windows, also ends the apps of other users without waiting for them.
 * Exit code 0: none is running; 1: it did not end within 20 s.
 */
export function quitRunningApp(): void {
  exitOnFailure(quit().then((code) => app.exit(code)))
}

async function quit(): Promise<number> {
  // The switch selects the folder of another app, such as the service.
  const folder = app.commandLine.hasSwitch('user-data-dir') ? undefined : installedFolder()
  const isAsked = folder !== undefined && (await askOthers(folder))
  try {
    // Each refused lock passes the arguments of this process, including `--quit`, to the running app.
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

/**
 * Sends the request to every app of this program.
 * @returns false without the rights of an administrator, or if an installer's request already exists
 */
export async function askOthers(folder: string): Promise<boolean> {
  return await writeFile(insideOf(folder, requestName), 'quit\n', { flag: 'wx' }).then(
    () => true,
    () => false,
  )
}
