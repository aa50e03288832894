/** `refuse`: for root; `closed`: the system gives none. */
export type SandboxState = 'on' | 'off' | 'refuse' | 'closed'

/** Facts that decide about Chromium's sandbox, before the app is ready. */
export interface SandboxSituation {
  platform: NodeJS.Platform
  /** User id; undefined on Windows. */
  uid: number | undefined
  argv: readonly string[]
  isPackaged: boolean
}

/**
 * Every renderer is sandboxed. An AppImage adds `--no-sandbox` by itself where the system gives programs no user namespaces (Ubuntu since 24.04): its pages would have no sandbox, so the app
 * says what to do instead (`closed`).
 * The exception is for root on Linux: Chromium starts for root only with `--no-sandbox`, and with `app.enableSandbox()` the media node would then
 * not start (its process expects a sandbox that root does not get). So the installed app refuses root; in test environments, which only have root,
 * the unpacked one disables the sandbox.
 */
export function sandboxFor({ platform, uid, argv, isPackaged }: SandboxSituation): SandboxState {
  if (platform !== 'linux' || !argv.includes('--no-sandbox')) return 'on'
  if (uid !== 0) return isPackaged ? 'closed' : 'on'
  return isPackaged ? 'refuse' : 'off'
}
