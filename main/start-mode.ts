import { commandFlags } from '../server/bin/launch-options.ts'

/**
 * Mode of a start. `desktop`: the app with its window. `headless`: a controller without a window, or a command that
 * prints something. `quit`: ends the running app. `service`: installs or removes the service of the machine.
 */
export type StartMode = 'desktop' | 'headless' | 'quit' | 'service'

/** Flags that select the mode; they are not passed to the controller. */
export const modeFlags = {
  headless: '--headless',
  quit: '--quit',
  /** With `--headless`: started by the service manager. */
  service: '--service',
  installService: '--install-service',
  removeService: '--remove-service',
} as const

const command = new RegExp(`^(-h|--(${commandFlags.join('|')}))(=|$)`)

/** @param argv arguments of the process */
export function startMode(argv: readonly string[]): StartMode {
  if (argv.includes(modeFlags.quit)) return 'quit'
  if (argv.includes(modeFlags.installService) || argv.includes(modeFlags.removeService)) return 'service'
  return argv.includes(modeFlags.headless) || argv.some((argument) => command.test(argument)) ? 'headless' : 'desktop'
}

/** Flag of the desktop app that opens the walls. */
export const kioskFlag = '--kiosk'

/** Flag of a start at login: a login item on Windows and macOS, an XDG autostart entry on Linux. */
export const hiddenFlag = '--hidden'
