import { existsSync } from 'node:fs'
import { app } from 'electron'
import { type NextProgram, startBehind } from '../server/bin/front-process.ts'
import { environmentOutside } from './app-image.ts'

/** Chromium's switch for the windowing system: X11, Wayland, or none. */
const platformSwitch = '--ozone-platform'

/**
 * Whether a start without a window must be repeated with Chromium's platform switch. On Linux, Electron chooses the
 * windowing system before it runs the app (`ElectronMainDelegate::PreSandboxStartup`), so a switch appended by the app
 * has no effect.
 * @param argv arguments of the process
 */
export function lacksHeadlessPlatform(argv: readonly string[], platform = process.platform): boolean {
  const isChosen = argv.some((argument) => argument === platformSwitch || argument.startsWith(`${platformSwitch}=`))
  return platform === 'linux' && !isChosen
}

/**
 * Runs this program again without a windowing system, as a child process. This process forwards signals to the child,
 * and ends with the same exit code. Electron opens the display as soon as the app's main module has been evaluated, so
 * that module must await this function.
 */
export async function runOnHeadlessPlatform(): Promise<never> {
  startBehind(process.env, process.platform, {
    more: [`${platformSwitch}=headless`],
    successor: successorProgram,
    end: (code) => app.exit(code),
  })
  return await new Promise<never>(() => {})
}

/**
 * Returns the program to start next. For an AppImage, returns its file, which an update may have replaced: the mount
 * point of this process contains the old program.
 */
export function successorProgram(environment: NodeJS.ProcessEnv): NextProgram {
  const { APPIMAGE } = environment
  return APPIMAGE !== undefined && existsSync(APPIMAGE)
    ? { program: APPIMAGE, environment: environmentOutside(environment) }
    : { program: process.execPath, environment }
}
