import { execFile, type ExecFileOptions } from 'node:child_process'
import { dirname, win32 } from 'node:path'
import { promisify } from 'node:util'
import { app } from 'electron'
import type { Logger } from 'pino'
import { type QuitRequest, QuitRequests } from './quit-requests.ts'
import { quotedForWindows } from './windows-argument.ts'

/** Maximum duration of an installer, in seconds. */
const maxSeconds = 30 * 60
/** Maximum time for starting PowerShell, in milliseconds. */
const startMs = 10_000

/**
 * PowerShell script that waits for the end of the app and of the installer, then starts the app. A system program runs
 * it, because the installer ends every process of its own folder. Values are passed in the environment, so that they
 * cannot be interpreted as code.
 */
const waiting = `for ($i = 0; $i -lt ${maxSeconds} -and (Get-Process -Id $env:ROOMDESK_APP, $env:ROOMDESK_INSTALLER -ErrorAction SilentlyContinue); $i++) { Start-Sleep -Seconds 1 }
if ($env:ROOMDESK_ARGUMENTS) { Start-Process -FilePath $env:ROOMDESK_PROGRAM -ArgumentList $env:ROOMDESK_ARGUMENTS } else { Start-Process -FilePath $env:ROOMDESK_PROGRAM }`

/**
 * PowerShell command that starts the waiting script in another process, not as a child of this process. Windows ends
 * children with their parent, except detached ones (libuv's process.c), and a detached PowerShell does nothing
 * (node#51018).
 */
const starting =
  'Start-Process -FilePath $env:ROOMDESK_SHELL -WindowStyle Hidden -ArgumentList "-NoProfile", "-NonInteractive", "-EncodedCommand", $env:ROOMDESK_SCRIPT'

export interface InstallerRestartOptions {
  logger: Pick<Logger, 'info' | 'error'>
  folder: string
  isQuitting: () => boolean
  /**
   * Records for the next start that an installer replaced the app.
   * @returns false if that installer starts the app itself
   */
  prepare: () => boolean
  /**
   * Receives the promise of a process start. The app must not end before this promise resolves, because Windows ends
   * the children of an app with the app.
   */
  wait: (started: Promise<void>) => void
  /** Starts the app after the installer with this process id has ended. */
  startAfter?: (installer: number) => Promise<void>
}

/**
 * Ends this app gracefully when an installer requests it. After the installer has ended, the app is started again as
 * this user, with the same arguments.
 * @returns undefined if the folder cannot be watched
 */
export function followInstallers(options: InstallerRestartOptions): QuitRequests | undefined {
  const { logger, folder, isQuitting, prepare, wait, startAfter = startAfterInstaller } = options
  const onRequest = (request: QuitRequest): void => {
    // The user has quit the app, so it must not restart.
    if (isQuitting()) return
    logger.info(request, 'asked to end by an installer or an administrator')
    if (request.kind === 'quit' || !prepare()) return app.quit()
    const started = startAfter(request.after)
      .catch((error: unknown) => logger.error({ err: error }, 'the app cannot be started again after the installation'))
      .finally(() => app.quit())
    wait(started)
  }
  try {
    return new QuitRequests(folder, onRequest)
  } catch (error) {
    logger.error({ err: error }, 'installers cannot ask this app to end')
    return undefined
  }
}

type Run = (program: string, args: readonly string[], options: ExecFileOptions) => Promise<unknown>

/**
 * Starts a process that outlives this process, waits for the end of the installer, and then starts the app with `args`.
 * @throws errors of execFile
 */
export async function startAfterInstaller(
  installer: number,
  args: readonly string[] = process.argv.slice(1),
  run: Run = promisify(execFile),
): Promise<void> {
  const { SystemRoot = 'C:\\Windows' } = process.env
  const powershell = win32.join(SystemRoot, 'System32\\WindowsPowerShell\\v1.0\\powershell.exe')
  await run(powershell, ['-NoProfile', '-NonInteractive', '-Command', starting], {
    // The program's folder will be replaced.
    cwd: SystemRoot,
    timeout: startMs,
    windowsHide: true,
    env: {
      ...process.env,
      ROOMDESK_SHELL: powershell,
      ROOMDESK_SCRIPT: Buffer.from(waiting, 'utf16le').toString('base64'),
      ROOMDESK_APP: String(process.pid),
      ROOMDESK_INSTALLER: String(installer),
      ROOMDESK_PROGRAM: app.getPath('exe'),
      ROOMDESK_ARGUMENTS: args.map(quotedForWindows).join(' '),
    },
  })
}

/**
 * Returns the folder of the installed program, in which installers place their request to end the app: on Windows,
 * installers cannot replace files of a running app. undefined: on other systems, or if the app is not packaged.
 */
export function installedFolder(): string | undefined {
  return process.platform === 'win32' && app.isPackaged ? dirname(app.getPath('exe')) : undefined
}
