import { type Check, found } from '../server/readiness/readiness.ts'
import type { SystemTool } from '../server/readiness/system-tool.ts'

/** Input of `powerCheck`. */
export interface PowerFacts {
  /** Whether the operator chose to keep this computer awake while rooms are in use. */
  keepsAwake: () => boolean
  isOnBattery: () => boolean
  tool: SystemTool
  platform?: NodeJS.Platform
  /** Names of the desktop, as in `XDG_CURRENT_DESKTOP`. */
  desktop?: string | undefined
}

/**
 * Runs a program of the system and returns its output; undefined: the program is missing or failed. @throws the reason
 * of the aborted signal
 */
type Ask = (program: string, ...parameters: string[]) => Promise<string | undefined>

/**
 * Checks whether this computer stays awake: through the app's setting while rooms are in use, and through the system's
 * sleep policy on mains power otherwise. While the computer sleeps, people cannot join a room.
 */
export function powerCheck({ keepsAwake, isOnBattery, tool, ...system }: PowerFacts): Check {
  const { platform = process.platform, desktop = process.env.XDG_CURRENT_DESKTOP } = system
  return async (signal) => {
    const ask: Ask = async (program, ...parameters) => {
      // The program is not installed, or failed.
      const answer = await tool(program, parameters, signal).catch(() => undefined)
      if (signal.aborted) throw signal.reason
      return answer
    }
    const minutes = await idleMinutes(ask, platform, desktop)
    if (!keepsAwake() && minutes !== 0) return found('powerSleeps')
    if (isOnBattery()) return found('powerBattery')
    if (minutes === undefined) return found('powerUnknown')
    return minutes === 0 ? found('powerAwake') : found('powerIdleSleeps', { minutes })
  }
}

/** Returns the idle time in minutes after which the system sleeps on mains power; 0: never, undefined: unknown. */
async function idleMinutes(ask: Ask, platform: NodeJS.Platform, desktop = ''): Promise<number | undefined> {
  if (platform === 'win32') return await ofWindows(ask)
  return platform === 'darwin' ? await ofMac(ask) : await ofLinux(ask, desktop)
}

/** Reads the last two numbers of the output: the seconds on mains and on battery power. Their labels are localized. */
async function ofWindows(ask: Ask): Promise<number | undefined> {
  const answer = await ask('powercfg.exe', '/q', 'SCHEME_CURRENT', 'SUB_SLEEP', 'STANDBYIDLE')
  const [mains, battery] = (answer?.match(/(?<=: )0x[0-9a-f]{8}\b/gi) ?? []).slice(-2)
  return mains === undefined || battery === undefined ? undefined : minutesOf(Number(mains))
}

/** pmset(1): `sleep` is in minutes, 0 means never; `SleepDisabled` takes precedence. */
async function ofMac(ask: Ask): Promise<number | undefined> {
  const answer = (await ask('pmset', '-g')) ?? ''
  if (/^\s*SleepDisabled\s+1$/m.test(answer)) return 0
  const minutes = /^\s*sleep\s+(\d+)/m.exec(answer)?.[1]
  return minutes === undefined ? undefined : Number(minutes)
}

/** Actions of logind.conf(5) that suspend the computer. */
const sleepActions = /"(?:suspend|hibernate|hybrid-sleep|suspend-then-hibernate|sleep)"/
const loginManager = ['org.freedesktop.login1', '/org/freedesktop/login1', 'org.freedesktop.login1.Manager']
const gnomePower = 'org.gnome.settings-daemon.plugins.power'

/** Queries logind. If logind leaves sleep to the desktop, as usual, queries GNOME, the only supported desktop. */
async function ofLinux(ask: Ask, desktop: string): Promise<number | undefined> {
  if ((await ask('systemctl', 'is-enabled', 'sleep.target'))?.trim() === 'masked') return 0
  const login = async (property: string): Promise<string> =>
    (await ask('busctl', 'get-property', ...loginManager, property)) ?? ''
  if (sleepActions.test(await login('IdleAction'))) {
    const microseconds = /^t (\d+)/.exec(await login('IdleActionUSec'))?.[1]
    return microseconds === undefined ? undefined : minutesOf(Number(microseconds) / 1e6)
  }
  if (!desktop.split(':').includes('GNOME')) return undefined
  const setting = async (name: string): Promise<string | undefined> =>
    (await ask('gsettings', 'get', gnomePower, `sleep-inactive-ac-${name}`))?.trim()
  const [type, seconds] = [await setting('type'), await setting('timeout')]
  if (type === "'nothing'") return 0
  return type === undefined || !/^\d+$/.test(seconds ?? '') ? undefined : minutesOf(Number(seconds))
}

/** Rounds up to whole minutes, at least one for any positive time. */
const minutesOf = (seconds: number): number => Math.ceil(seconds / 60)
