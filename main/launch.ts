import { join } from 'node:path'
import { type LaunchOptions, readLaunchOptions } from '../server/bin/launch-options.ts'

/** Start of the desktop app. */
export interface DesktopLaunch
  extends Pick<
    LaunchOptions,
    'host' | 'recordingsDir' | 'mediaPort' | 'devicePort' | 'nodePort' | 'olderClients' | 'getAccessToken' | 'logLevel'
  > {
  dataFolder: string
  /** Started at login: the window stays hidden until the operator opens it. */
  hidden: boolean
}

/** Flags of the headless controller that the desktop accepts; Electron and Chromium have their own flags. */
const ours =
  /^--(data-dir|recordings-dir|host|media-port|device-port|node-port|older-clients|get-access-token|log-level)=/

/**
 * Reads `--flag=value` and `ROOMDESK_<FLAG>` like the headless controller.
 * @param userData the app's own folder: the site is in its subfolder `site` by default
 * @param atLogin started at login, according to the system
 * @throws LaunchError
 */
export function readDesktopLaunch(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  userData: string,
  atLogin = false,
): DesktopLaunch {
  const site = join(userData, 'site')
  const flags = argv.filter((argument) => ours.test(argument))
  const { dataDir, ...options } = readLaunchOptions(flags, { ROOMDESK_DATA_DIR: site, ...environment })
  return { ...options, dataFolder: dataDir, hidden: atLogin || argv.includes('--hidden') }
}
