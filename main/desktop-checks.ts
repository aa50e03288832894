import { readFile } from 'node:fs/promises'
import { app, powerMonitor, safeStorage, screen } from 'electron'
import { type Check, type Checks, found } from '../server/readiness/readiness.ts'
import { type SystemTool, systemTool } from '../server/readiness/system-tool.ts'
import type { DataKey } from './key.ts'
import { powerCheck } from './power-check.ts'
import type { SandboxState } from './sandbox.ts'
import { areWindowsPlaced } from './window-placement.ts'

/** State of the running app, as input of its readiness checks. */
export interface DesktopFacts {
  sandbox: SandboxState
  key: Pick<DataKey, 'protection'>
  /** Whether the operator chose to keep this computer awake while rooms are in use. */
  keepsAwake: () => boolean
  /** Number of displays for which walls are chosen. */
  walls: () => number
  /** Runs a program of the system to query the sleep policy; default: `systemTool`. */
  tool?: SystemTool
}

/** Checks that only the desktop app can make. */
export function desktopChecks({ sandbox, key, keepsAwake, walls, tool = systemTool }: DesktopFacts): Checks {
  return {
    tray: trayCheck(systemTool),
    sandbox: sandboxCheck(sandbox),
    key: keychainCheck(key),
    power: powerCheck({ keepsAwake, isOnBattery: () => powerMonitor.isOnBatteryPower(), tool }),
    // Windows and macOS let every program position its windows.
    ...(process.platform === 'linux' && { walls: wallsCheck(walls) }),
  }
}

/**
 * Commands that ask the session's message bus whether a StatusNotifierItem host, such as a panel, shows tray icons.
 * Each command is part of a different package, so at least one is usually installed.
 */
const watcher = 'org.kde.StatusNotifierWatcher'
const bus = 'org.freedesktop.DBus'
const questions = [
  [
    'dbus-send',
    [
      '--session',
      '--print-reply=literal',
      `--dest=${bus}`,
      '/org/freedesktop/DBus',
      `${bus}.NameHasOwner`,
      `string:${watcher}`,
    ],
  ],
  [
    'gdbus',
    [
      'call',
      '--session',
      '--dest',
      bus,
      '--object-path',
      '/org/freedesktop/DBus',
      '--method',
      `${bus}.NameHasOwner`,
      watcher,
    ],
  ],
  ['busctl', ['--user', 'call', bus, '/org/freedesktop/DBus', bus, 'NameHasOwner', 's', watcher]],
] as const

/** Checks whether the desktop shows tray icons. Some desktops on Linux do not. */
export function trayCheck(tool: SystemTool, platform: NodeJS.Platform = process.platform): Check {
  return async (signal) => {
    if (platform !== 'linux') return found('trayShown')
    for (const [program, parameters] of questions) {
      // The program is not installed, or there is no session bus: the next program is tried.
      const answer = await tool(program, parameters, signal).catch(() => undefined)
      if (signal.aborted) throw signal.reason
      const shown = /\b(true|false)\b/.exec(answer ?? '')?.[1]
      if (shown !== undefined) return shown === 'true' ? found('trayShown') : found('trayMissing')
    }
    return found('trayUnknown')
  }
}

/**
 * Checks the sandbox of the app's pages. On Linux, also checks that a kernel filter restricts the system calls of each
 * page's process.
 */
function sandboxCheck(state: SandboxState): Check {
  return async () => {
    if (state !== 'on') return found('sandboxOff')
    if (process.platform !== 'linux') return found('sandboxOn')
    const pages = app.getAppMetrics().filter(({ type }) => type === 'Tab')
    const filtered = await Promise.all(pages.map(async ({ pid }) => await isFiltered(pid)))
    return filtered.includes(false) ? found('sandboxOff') : found('sandboxOn')
  }
}

/**
 * Whether the kernel filters the system calls of a process. Reads `Seccomp` of proc_pid_status(5): 2 means a filter, as
 * set by Chromium's sandbox. A process that has ended counts as filtered.
 */
async function isFiltered(pid: number): Promise<boolean> {
  // The process has ended.
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return status === '' || /^Seccomp:\s*2$/m.test(status)
}

/**
 * Checks whether each wall opens on its display. With a single wall on a single display, the position does not matter.
 */
function wallsCheck(walls: () => number): Check {
  return async () => {
    const displays = Math.max(walls(), screen.getAllDisplays().length)
    return found(walls() === 0 || displays === 1 || areWindowsPlaced() ? 'wallsPlaced' : 'wallsUnplaced')
  }
}

/** Reports the keychain that protects the key of the site, or that none does. */
function keychainCheck({ protection }: Pick<DataKey, 'protection'>): Check {
  return async () => {
    const backend = keychainName()
    return protection === 'system' ? found('keyKeychain', { backend }) : found('keyPlain', { backend })
  }
}

function keychainName(): string {
  if (process.platform === 'darwin') return 'macOS Keychain'
  return process.platform === 'win32' ? 'Windows DPAPI' : safeStorage.getSelectedStorageBackend()
}
