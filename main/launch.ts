import { join } from 'node:path'
import { type LaunchOptions, readLaunchOptions } from '../server/bin/launch-options.ts'

/** How the desktop app was started. */
export interface DesktopLaunch
  extends Pick<
    LaunchOptions,
    'host' | 'mediaPort' | 'devicePort' | 'nodePort' | 'olderClients' | 'getAccessToken' | 'logLevel'
  > {
  dataFolder: string
  /** At login: the window stays hidden until the operator opens it. */
  hidden: boolean
}

/** Flags of the headless controller that the desktop takes too; Electron and Chromium have flags of their own beside them. */
const ours = /^--(data-dir|host|media-port|device-port|node-port|older-clients|get-access-token|log-level)=/

/**
 * Reads `--flag=value` and `ROOMDESK_<FLAG>` as the headless controller does.
 * @param userData the app's own folder: the site lives in `site` below it unless told otherwise
 * @param atLogin the system has started it at login, and says so itself
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
