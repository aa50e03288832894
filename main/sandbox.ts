/**
 * State of the sandbox. `refuse`: unavailable, because the user is root; `closed`: the system does not provide a
 * sandbox.
 */
export type SandboxState = 'on' | 'off' | 'refuse' | 'closed'

/** Facts that determine the use of Chromium's sandbox, before the app is ready. */
export interface SandboxSituation {
  platform: NodeJS.Platform
  /** User id; undefined on Windows. */
  uid: number | undefined
  argv: readonly string[]
  isPackaged: boolean
}

/**
 * Returns the state of the sandbox; normally every renderer is sandboxed. If the system does not allow unprivileged
 * user namespaces (Ubuntu since 24.04), an AppImage adds `--no-sandbox` automatically. Its pages would have no sandbox,
 * so the app shows a remedy instead (`closed`).
 * Root on Linux is an exception: Chromium starts for root only with `--no-sandbox`. With `app.enableSandbox()` the
 * media node would then not start: its process expects a sandbox that root does not get. The packaged app therefore
 * refuses to run as root. In test environments, which only have root, the unpackaged app disables the sandbox.
 */
export function sandboxFor({ platform, uid, argv, isPackaged }: SandboxSituation): SandboxState {
  if (platform !== 'linux' || !argv.includes('--no-sandbox')) return 'on'
  if (uid !== 0) return isPackaged ? 'closed' : 'on'
  return isPackaged ? 'refuse' : 'off'
}
