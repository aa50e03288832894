import { access } from 'node:fs/promises'
import { type Check, found } from './finding.ts'
import type { SystemTool } from './system-tool.ts'

/** Commands that enable network time. */
const commands: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  linux: 'sudo timedatectl set-ntp true',
  win32: 'w32tm /resync',
  darwin: 'sudo systemsetup -setusingnetworktime on',
}

/** Checks whether the clock of this machine is synchronised with network time, if the system reports this. */
export function clockCheck(tool: SystemTool, platform: NodeJS.Platform = process.platform, root = '/'): Check {
  return async (signal) => {
    const isSynchronised =
      platform === 'linux'
        ? await ofLinux(tool, root, signal)
        : platform === 'win32'
          ? await ofWindows(tool, signal)
          : undefined
    if (isSynchronised === undefined) return found('clockUnknown')
    return isSynchronised ? found('clockSynchronised') : found('clockFree', { command: commands[platform] ?? '' })
  }
}

/**
 * Reads the kernel's flag, which chrony, ntpd and systemd-timesyncd set. Without systemd, checks the file of
 * systemd-timesyncd.
 */
async function ofLinux(tool: SystemTool, root: string, signal: AbortSignal): Promise<boolean | undefined> {
  // A failure means that the program is not installed.
  const answer = await tool('timedatectl', ['show', '--property=NTPSynchronized', '--value'], signal).catch(() => '')
  if (signal.aborted) throw signal.reason
  if (answer?.trim() === 'yes') return true
  if (answer?.trim() === 'no') return false
  return await access(`${root}run/systemd/timesync/synchronized`).then(
    () => true,
    () => undefined,
  )
}

/**
 * Reads the leap indicator, which is the first number of the output in every language; 3 means "not synchronised" (RFC
 * 5905, section 7.3).
 */
async function ofWindows(tool: SystemTool, signal: AbortSignal): Promise<boolean | undefined> {
  // A failure means that the service is not running.
  const answer = await tool('w32tm.exe', ['/query', '/status'], signal).catch(() => '')
  if (signal.aborted) throw signal.reason
  const leap = /^[^:\r\n]+:\s*(\d)\(/.exec(answer ?? '')?.[1]
  // The Windows service is not running; another network time client may be in use.
  return leap === undefined ? undefined : leap !== '3'
}
