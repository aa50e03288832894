import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { app } from 'electron'
import { localFolder } from '../server/bin/launch-options.ts'
import { type ExclusiveLock, lockExclusively } from '../server/store/system/processes.ts'
import { listFolder } from '../server/store/files/durable-files.ts'
import { renameFile } from '../server/store/system/rename-file.ts'
import { insideOf } from '../shared/files/own-path.ts'
import { sleep } from '../shared/sleep.ts'
import { type StartMode, modeFlags } from './start-mode.ts'
import { ownFlags } from './launch.ts'
import { HalfMovedError, isHalfMoved, lockName, moveFolder } from './move-folder.ts'

/** File that Chromium writes into its session folder at each start. */
const stateName = 'Local State'

/** Name of the lock file held by the process that moves the folder. */
const moveLock = 'moving.lock'

/** Maximum time to wait for a move by another process, and interval between checks, in milliseconds. */
const moveMs = 60_000
const pauseMs = 100

/** Folder of the app's own files, and the result of moving an earlier folder. */
export interface UserFolder {
  /** undefined: the folder chosen by Electron. */
  path: string | undefined
  /** Message for the log about a move; undefined: none. */
  notice?: string
  /**
   * Reason why the app must not start: it would create an empty site beside the existing one, or its folder is
   * unusable.
   */
  error?: Error
}

/** Input of `findUserFolder`. */
export interface UserFolderFacts {
  argv: readonly string[]
  environment: NodeJS.ProcessEnv
  /** Electron's default: the app's folder in the roaming folder of the user. */
  roaming: string
  mode: StartMode
  rename?: typeof renameFile
}

/**
 * Sets the folder of this user for Electron's files, the site and the logs, to a folder that stays on this machine.
 * Electron's default is the roaming folder, which Windows copies to a server at each log-off, including all recordings.
 * Windows only.
 * Must be called before the folder's path is read: Electron creates the folder at the first `getPath`, and reads `Local
 * State` after the main module has run (`ElectronBrowserMainParts::PostEarlyInitialization`).
 */
export async function placeUserFolder(mode: StartMode): Promise<UserFolder> {
  const { platform, argv, env: environment } = process
  if (platform !== 'win32' || app.commandLine.hasSwitch('user-data-dir')) return { path: undefined }
  const roaming = insideOf(app.getPath('appData'), app.getName())
  const folder = await findUserFolder({ argv, environment, roaming, mode })
  if (folder.path !== undefined) app.setPath('userData', folder.path)
  return folder
}

/**
 * Determines the folder, and moves an earlier folder there once. Returns errors instead of throwing them. An error
 * thrown while the main module is evaluated would open a dialog, and an installer's `--quit` would wait for that
 * dialog.
 */
export async function findUserFolder(facts: UserFolderFacts): Promise<UserFolder> {
  try {
    return await find(facts)
  } catch (error) {
    return { path: undefined, error: error instanceof Error ? error : new Error(String(error)) }
  }
}

async function find(facts: UserFolderFacts): Promise<UserFolder> {
  const local = localFolder(facts.environment)
  const known = await settled(local, facts.roaming)
  if (known !== undefined) return known
  const runsController = facts.mode === 'desktop' || facts.argv.includes(modeFlags.headless)
  // If the operator chose another folder for the site, the app's files stay in the roaming folder, unless a move has
  // begun.
  const mayMove = runsController && (isHalfMoved(local) || !hasDataFolder(facts))
  if (!mayMove) return { path: isHalfMoved(local) ? local : facts.roaming }
  await mkdir(local, { recursive: true, mode: 0o700 })
  const lock = await lockForMove(join(local, moveLock))
  if (lock === 'held by another') return { path: local }
  try {
    // Another process may have completed the move meanwhile.
    return (await settled(local, facts.roaming)) ?? (await move(facts.roaming, local, facts.rename))
  } finally {
    if ('release' in lock) lock.release()
    // Other processes wait until this file is removed.
    await rm(join(local, moveLock), { force: true }).catch(() => undefined)
  }
}

/** Returns the folder if there is nothing left to move; undefined: a move is required. */
async function settled(local: string, roaming: string): Promise<UserFolder | undefined> {
  if (isHalfMoved(local)) return undefined
  const left = await listFolder(roaming)
  if (left.length === 0) return { path: local }
  if (!existsSync(join(local, stateName))) return undefined
  const notice = `this app keeps its files in ${local}; the older ones in ${roaming} are not used`
  return left.includes('site') ? { path: local, notice } : { path: local }
}

async function move(roaming: string, local: string, rename = renameFile): Promise<UserFolder> {
  const lock = join(roaming, lockName)
  try {
    await rm(lock, { force: true })
  } catch {
    // Windows cannot remove an open file, and Chromium keeps this file open while an app uses the folder.
    return { path: roaming }
  }
  try {
    await moveFolder(roaming, local, rename)
    return { path: local, notice: `the files of this app were moved from ${roaming} to ${local}` }
  } catch (error) {
    if (error instanceof HalfMovedError) return { path: local, error }
    const reason = error instanceof Error ? error.message : String(error)
    const notice = `the files of this app stay in ${roaming} and could not be moved to ${local}, which is tried again at the next start: ${reason}`
    return { path: roaming, notice }
  }
}

/** Waits until no other process moves the folder, then takes the lock. Returns the last result after `moveMs`. */
async function lockForMove(path: string): Promise<ExclusiveLock> {
  for (const end = performance.now() + moveMs; ; await sleep(pauseMs)) {
    const lock = await lockExclusively(path)
    if (lock !== 'held by another' || performance.now() > end) return lock
  }
}

function hasDataFolder({ argv, environment }: Pick<UserFolderFacts, 'argv' | 'environment'>): boolean {
  return environment.ROOMDESK_DATA_DIR !== undefined || ownFlags(argv).some((flag) => flag.startsWith('--data-dir'))
}
