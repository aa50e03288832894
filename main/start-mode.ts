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

const command = new RegExp(`^(-h|--(${commandFlags.join('|')}))(=|$)`)

/** Returns the mode selected by the arguments of the process. */
export function startMode(argv: readonly string[]): StartMode {
  if (argv.includes(modeFlags.quit)) return 'quit'
  if (argv.includes(modeFlags.installService) || argv.includes(modeFlags.removeService)) return 'service'
  return argv.includes(modeFlags.headless) || argv.some((argument) => command.test(argument)) ? 'headless' : 'desktop'
}

/** Flag of the desktop app that opens the walls. */
export const kioskFlag = '--kiosk'

/** Flag of a start at login, set by a login item on Windows and macOS and by an XDG autostart entry on Linux. */
export const hiddenFlag = '--hidden'
