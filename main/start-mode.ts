import { commandNames } from '../server/bin/commands.ts'
import { commandFlags } from '../server/bin/launch-options.ts'

/**
 * Mode in which the program starts. `desktop`: the app with its window. `headless`: a controller without a window, or a
 * command that prints something. `quit`: ends the running app. `service`: installs or removes the service of the
 * machine.
 */
export type StartMode = 'desktop' | 'headless' | 'quit' | 'service'

/** Flags that select the mode; they are not passed to the controller. */
export const modeFlags = {
  headless: '--headless',
  quit: '--quit',
  /** Used with `--headless`: the service manager started the program. */
  service: '--service',
  installService: '--install-service',
  removeService: '--remove-service',
} as const

const commandFlag = new RegExp(`^(-h|--(${commandFlags.join('|')}))(=|$)`)

/**
 * Returns the mode selected by the arguments of the process.
 * @param isPackaged whether the arguments follow the program directly; otherwise the app's folder stands between
 */
export function startMode(argv: readonly string[], isPackaged = true): StartMode {
  if (argv.includes(modeFlags.quit)) return 'quit'
  if (argv.includes(modeFlags.installService) || argv.includes(modeFlags.removeService)) return 'service'
  const [word] = headlessFlags(argv.slice(isPackaged ? 1 : 2))
  if (word !== undefined && commandNames.includes(word)) return 'headless'
  return argv.includes(modeFlags.headless) || argv.some((argument) => commandFlag.test(argument))
    ? 'headless'
    : 'desktop'
}

/** Flag of the desktop app that opens the walls. */
export const kioskFlag = '--kiosk'

/** Flag of a start at login, set by a login item on Windows and macOS and by an XDG autostart entry on Linux. */
export const hiddenFlag = '--hidden'

/** Switches of Electron and Chromium that the controller's flags may contain. */
const foreign = /^--(user-data-dir|no-sandbox|disable-gpu|ozone-platform|enable-logging|lang)(=|$)/

const ownFlags: ReadonlySet<string> = new Set(Object.values(modeFlags))

/** Returns the flags of the headless controller. @param given arguments after the program */
export function headlessFlags(given: readonly string[]): string[] {
  return given.filter((argument) => !ownFlags.has(argument) && !foreign.test(argument))
}
