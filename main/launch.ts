import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Flag, flags, type LaunchOptions, readLaunchOptions } from '../server/bin/launch-options.ts'
import { readSiteFile } from '../server/controller/site-file.ts'
import type { SiteFile } from '../shared/site-file.ts'
import { hiddenFlag, kioskFlag } from './start-mode.ts'
import { refuseMistypedFlags } from './mistyped-flags.ts'

export interface DesktopLaunch extends Omit<LaunchOptions, 'dataDir' | keyof typeof headlessOnly | CommandOption> {
  dataFolder: string
  /** Whether the window stays hidden until the operator opens it, as at a start at login. */
  hidden: boolean
  /** Whether to open the walls of this computer's displays. */
  kiosk: boolean
}

/** Options of commands, which are run by the app without a window. */
type CommandOption = 'verifyLog' | 'version' | 'help' | 'storePasswordShown'

/**
 * Options that only a start without a window supports, and their flags: a site in a database or with a separate key.
 * The desktop app stores its site in files, with a key protected by the keychain. Flags of commands start the app
 * without a window, so commands reach this code only as environment variables.
 */
const headlessOnly = {
  store: 'store',
  storePasswordFile: 'store-password-file',
  sealKey: 'seal-key',
  controllerName: 'controller-name',
  allowPlainControllers: 'allow-plain-controllers',
  moveStore: 'move-store',
  janusConfig: 'janus-config',
} as const satisfies Partial<Record<keyof LaunchOptions, Flag>>

/** The desktop app does not support this flag or its environment variable. */
export class HeadlessFlagError extends Error {
  override readonly name = 'HeadlessFlagError'
  readonly flag: string

  constructor(flag: string) {
    super(`${flag} works only without a window: start Roomdesk with --headless.`)
    this.flag = flag
  }
}

/**
 * Reads the flags and the variables `ROOMDESK_<FLAG>` of the controller; flags of Electron and Chromium are ignored.
 * @param userData the app's own folder: by default the site is in its subfolder `site`
 * @param atLogin whether the system started the app at login
 * @throws LaunchError, HeadlessFlagError, MistypedFlagError
 */
export function readDesktopLaunch(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  userData: string,
  atLogin = false,
): DesktopLaunch {
  refuseMistypedFlags(argv)
  const site = join(userData, 'site')
  const { dataDir, ...options } = readLaunchOptions(ownFlags(argv), { ROOMDESK_DATA_DIR: site, ...environment })
  for (const [option, flag] of Object.entries(headlessOnly))
    if (Reflect.get(options, option) !== undefined) throw new HeadlessFlagError(`--${flag}`)
  return {
    ...options,
    dataFolder: dataDir,
    hidden: atLogin || argv.includes(hiddenFlag),
    kiosk: argv.includes(kioskFlag),
  }
}

/** Reads a site file. @throws SiteFileError; HeadlessFlagError if the file specifies a database */
export async function readDesktopSite(path: string): Promise<SiteFile> {
  const site = await readSiteFile(path)
  if (site.store !== undefined) throw new HeadlessFlagError('--store')
  return site
}

/** Returns the arguments that are flags of the controller, each as `--flag=value` or `--flag`. */
export function ownFlags(argv: readonly string[]): string[] {
  const options = Object.fromEntries(flags.map((name) => [name, { type: 'string' } as const]))
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, allowPositionals: true, tokens: true })
  return tokens.flatMap((token) => {
    if (token.kind !== 'option' || !Object.hasOwn(options, token.name)) return []
    return token.value === undefined ? [token.rawName] : [`${token.rawName}=${token.value}`]
  })
}
