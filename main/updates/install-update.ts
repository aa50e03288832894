import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, copyFile, open, rm } from 'node:fs/promises'
import type { UpdatesView } from '../../shared/app-contract.ts'
import { renameFile } from '../../server/store/system/rename-file.ts'
import { isAsAnnounced } from './fetch-installer.ts'
import type { VerifiedRelease } from './release.ts'
import { problemOf, UpdateProblem } from './update-problem.ts'

/**
 * Method by which this app is updated. `replace`: the app replaces its own AppImage. `installer`: the app runs the
 * installer. `elevated`: the app runs the installer, for which Windows asks an administrator. `package`: the system
 * installs the package after an administrator has entered a password. `image`: the app opens the disk image for the
 * operator. `byHand`: the operator performs all steps.
 */
export type InstallWay = UpdatesView['way']

/** Properties of the app that determine how it is updated. */
interface InstalledApp {
  platform: NodeJS.Platform
  isPackaged: boolean
  /** Path of the running AppImage, if any. */
  appImage: string | undefined
  /** Whether it was installed from a Debian package, and the system can request the rights to replace it. */
  isManagedPackage: boolean
  /** Whether Windows asks an administrator before the installer may replace it. */
  asksAdministrator: boolean
}

export function installWay(app: InstalledApp): InstallWay {
  const { platform, isPackaged, appImage, isManagedPackage, asksAdministrator } = app
  if (!isPackaged) return 'byHand'
  if (platform === 'win32') return asksAdministrator ? 'elevated' : 'installer'
  if (platform === 'darwin') return 'image'
  if (platform === 'linux' && appImage !== undefined) return 'replace'
  return platform === 'linux' && isManagedPackage ? 'package' : 'byHand'
}

/**
 * Replaces the running AppImage by that of a release, completely or not at all. The running app continues from its
 * mount point. The checksum of the copy is verified, so a file that changed meanwhile is not installed.
 * @throws UpdateProblem
 */
export async function replaceAppImage(installer: string, appImage: string, release: VerifiedRelease): Promise<void> {
  const next = `${appImage}.new`
  try {
    await copyFile(installer, next)
    await chmod(next, 0o755)
    const handle = await open(next, 'r+')
    await handle.sync().finally(() => handle.close())
    if (!(await isAsAnnounced(next, release))) throw new UpdateProblem('checksum', release.file)
    await renameFile(next, appImage)
  } catch (error) {
    // Only the first error is reported.
    await rm(next, { force: true }).catch(() => undefined)
    throw problemOf(error, 'notWritten')
  }
}

/**
 * Maximum time until the installer for Windows ends this app, in milliseconds. The prompt for administrator rights
 * closes after two minutes.
 */
const installerMs = 15 * 60_000

/**
 * Runs the installer of electron-builder (NSIS) silently. The installer gracefully ends the running app (`--quit`),
 * replaces it and starts it again. If the installer needs administrator rights, Windows opens a dialog; the exit code
 * is the same for a refusal and for a failure.
 * @returns never: the installer ends this app
 * @throws UpdateProblem if the installer ended while this app still runs, or did not end this app in time
 */
export async function runInstaller(installer: string, limitMs = installerMs): Promise<never> {
  const child = spawn(installer, ['--updated', '/S', '--force-run'], { detached: true, stdio: 'ignore' })
  child.unref()
  const limit = AbortSignal.timeout(limitMs)
  const [code] = (await once(child, 'exit', { signal: limit }).catch((error: unknown) => {
    throw limit.aborted ? new UpdateProblem('installerHangs') : problemOf(error, 'notStarted')
  })) as [number | null]
  throw new UpdateProblem('installerEnded', String(code ?? ''))
}
