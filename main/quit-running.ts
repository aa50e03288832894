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
 * Gracefully ends the app that runs for this user, and waits for its end. Used by installers, and manually (`roomdesk
 * --quit`). If an administrator of Windows runs this, the apps of other users are also ended, without waiting for them.
 * Exit code 0: no app is running; 1: the app did not end within 20 s.
 */
export function quitRunningApp(): void {
  exitOnFailure(quit().then((code) => app.exit(code)))
}

async function quit(): Promise<number> {
  // The switch selects the folder of another app, e.g. the service's: then only that app is ended.
  const folder = app.commandLine.hasSwitch('user-data-dir') ? undefined : installedFolder()
  const isAsked = folder !== undefined && (await askOthers(folder))
  try {
    // A refused lock request passes the arguments of this process, including `--quit`, to the running app.
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
 * Writes the request to end into the program's folder, for every app that runs from this folder.
 * @returns false if the request cannot be written: without administrator rights, or if a request already exists
 */
export async function askOthers(folder: string): Promise<boolean> {
  return await writeFile(insideOf(folder, requestName), 'quit\n', { flag: 'wx' }).then(
    () => true,
    () => false,
  )
}
