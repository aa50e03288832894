import { access } from 'node:fs/promises'
import { type Check, found } from './readiness.ts'
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

/** Clock of a camera that has joined its room. */
export interface CameraClock {
  name: string
  /**
   * Milliseconds by which the camera's clock is ahead of this machine; undefined: the camera does not report its time.
   */
  aheadMs: number | undefined
}

/** Minimum difference that is reported, in milliseconds: reports are delayed on slow links. */
const toleratedMs = 5_000
/** Maximum number of cameras named in the result. */
const maxNamed = 5

/** Checks whether the clocks of cameras agree with the clock of this machine. */
export function cameraClocksCheck(read: (signal: AbortSignal) => Promise<readonly CameraClock[]>): Check {
  return async (signal) => {
    const clocks = await read(signal)
    if (clocks.length === 0) return found('cameraClocksNone')
    const told = clocks.flatMap(({ name, aheadMs }) => (aheadMs === undefined ? [] : [{ name, aheadMs }]))
    if (told.length === 0) return found('cameraClocksUnknown')
    const off = told
      .filter(({ aheadMs }) => Math.abs(aheadMs) > toleratedMs)
      .toSorted((a, b) => Math.abs(b.aheadMs) - Math.abs(a.aheadMs))
    if (off.length === 0) return found('cameraClocksAgree', { count: told.length })
    const named = off.slice(0, maxNamed).map(({ name, aheadMs }) => `${name} ${difference(aheadMs)}`)
    return found('cameraClocksDiffer', {
      count: off.length,
      cameras: `${named.join(', ')}${off.length > maxNamed ? ', …' : ''}`,
    })
  }
}

/** Formats a difference with its sign in hours, minutes and seconds, e.g. `−0:03:05`, for all languages. */
function difference(ms: number): string {
  const seconds = Math.round(Math.abs(ms) / 1_000)
  const two = (value: number): string => String(value).padStart(2, '0')
  const hours = Math.floor(seconds / 3_600)
  return `${ms < 0 ? '−' : '+'}${hours}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`
}
