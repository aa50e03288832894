/** Facts that decide about Chromium's sandbox, before the app is ready. */
export interface SandboxSituation {
  platform: NodeJS.Platform
  /** User id; undefined on Windows. */
  uid: number | undefined
  argv: readonly string[]
  isPackaged: boolean
}

/**
 * Every renderer is sandboxed, except for root on Linux: Chromium starts for root only with `--no-sandbox`, and with `app.enableSandbox()` the media node would then
 * not start (its process expects a sandbox that root does not get). So the installed app refuses root; in test environments, which only have root,
 * the unpacked one disables the sandbox.
 */
export function sandboxFor({ platform, uid, argv, isPackaged }: SandboxSituation): 'on' | 'off' | 'refuse' {
  if (platform !== 'linux' || uid !== 0 || !argv.includes('--no-sandbox')) return 'on'
  return isPackaged ? 'refuse' : 'off'
}
