/** Facts by which the app decides about Chromium's sandbox, before it is ready. */
export interface SandboxSituation {
  platform: NodeJS.Platform
  /** Id of the user; undefined on Windows. */
  uid: number | undefined
  argv: readonly string[]
  isPackaged: boolean
}

/**
 * Every renderer is sandboxed. Root on Linux is another matter: Chromium starts for root with `--no-sandbox` only, and with `app.enableSandbox()` the media node would then
 * not start (its process is told to have a sandbox that root does not get). So the installed app refuses root; in a test environment, where there is nobody else,
 * the unpacked one leaves the sandbox off.
 */
export function sandboxFor({ platform, uid, argv, isPackaged }: SandboxSituation): 'on' | 'off' | 'refuse' {
  if (platform !== 'linux' || uid !== 0 || !argv.includes('--no-sandbox')) return 'on'
  return isPackaged ? 'refuse' : 'off'
}
