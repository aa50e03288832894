import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import type { SpawnMediaProcess } from '../nodes/embedded/media-process.ts'
import { holdsPassword } from '../store/postgres/database-password.ts'

/** Files of this program that a controller needs. */
export interface ProgramFiles {
  /** Folder with the built pages: the room page, the player, the console. */
  pages: string
  /** Starts the program of the embedded node. @param recordings writable folder @param roomPage readable folder */
  spawnMedia: (recordings: string, roomPage: string) => SpawnMediaProcess
}

/**
 * Options of the headless controller: flags, or `ROOMDESK_<FLAG>` in the environment. Absent options are taken from the
 * settings.
 */
export interface LaunchOptions {
  dataDir: string
  host: string | undefined
  mediaPort: number | undefined
  devicePort: number | undefined
  nodePort: number | undefined
  consolePort: number | undefined
  eventPort: number | undefined
  /** Address of the database with the site's state; undefined: read from the site file, or the state is in files. */
  store: string | undefined
  /** Whether the password in `store` was passed as an argument, which every user of the machine can read. */
  storePasswordShown: boolean
  /** File with the password of the database. */
  storePasswordFile: string | undefined
  /** File of the key shared by all controllers of a site; undefined: seal.key in the data folder. */
  sealKey: string | undefined
  /** Name of this controller within its site; undefined: the name of its machine. */
  controllerName: string | undefined
  /** Whether plain HTTP to controllers on other machines is allowed. */
  allowPlainControllers: boolean | undefined
  /** Storage to which the site is moved before the program exits; undefined: no move. */
  moveStore: 'database' | 'files' | undefined
  /** Folder of recordings; undefined: `recordings` in the data folder. */
  recordingsDir: string | undefined
  site: string | undefined
  /** Whether to enable sign-in with the console key again. */
  consoleKey: boolean | undefined
  /** Overrides the setting `compatibility.older_clients`. */
  olderClients: boolean | undefined
  /** Overrides the setting `compatibility.get_access_token`. */
  getAccessToken: boolean | undefined
  /** Path or name of ffmpeg; undefined: `ffmpeg` on the path. */
  ffmpeg: string | undefined
  logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'
  /** Name of a Janus node whose configuration files are printed before the program exits. */
  janusConfig: string | undefined
  /** Whether to verify the event log of the data folder, then exit. */
  verifyLog: boolean
  /** Whether to print the version, then exit. */
  version: boolean
  help: boolean
}

/** Thrown if the command line or the environment is invalid; the message contains the flag. */
export class LaunchError extends Error {
  override readonly name: string = 'LaunchError'
}

export const usage = `Usage: roomdesk [flags]          every flag also as ROOMDESK_<FLAG>, e.g. ROOMDESK_DATA_DIR
  --data-dir DIR       where the site is kept (default: a folder of this user)
  --recordings-dir DIR
                       where recordings are kept; it must exist (default: recordings in the data folder)
  --store ADDRESS      the site's state in PostgreSQL: postgres://user@host1,host2/database?sslmode=verify-full (default: files in DIR);
                       the app for Windows takes it as --store=ADDRESS only
  --store-password-file FILE
                       file whose first line is the password of the database (default: ~/.pgpass, or PGPASSFILE)
  --seal-key FILE      the key that all controllers of a site share (default: seal.key in DIR)
  --controller-name NAME
                       what this controller is called among those of its site (default: the name of this machine)
  --allow-plain-controllers on|off
                       pass requests on to a controller of an older version on another machine in plain HTTP (default off)
  --move-store database|files
                       move the site from the files in DIR to the database of --store, or back, and end
  --host ADDRESS       address to listen on (default 127.0.0.1: this machine only)
  --media-port N       media room API (default 7080); 0 picks a free port
  --device-port N      external device API (default 7081)
  --node-port N        the media node of this machine (default 7082)
  --console-port N     operator console (default 7083)
  --event-port N       where Janus nodes send their events (default: off, they are polled)
  --site FILE          JSON document to apply at start (credentials, nodes, licence, settings)
  --console-key on     switch the sign-in with the console key on again, and keep it on
  --older-clients on|off
                       clients of the original platform work unmodified (default: as the settings say)
  --get-access-token on|off
                       they may trade their secret_key in a URL for a token (default: as the settings say)
  --ffmpeg PATH        what makes playable what browsers cannot play (default: the one in PATH, if there is one)
  --janus-config NAME  print the configuration files that make a Janus server this node, secrets included, and end
  --verify-log         say whether the event log was changed or cut, and end: exit code 0 or 1
  --version            print the version, and end
  --log-level LEVEL    trace, debug, info, warn, error, fatal or silent (default info)`

/** Flags with a value, without their dashes. */
export const flags = [
  'data-dir',
  'recordings-dir',
  'store',
  'store-password-file',
  'seal-key',
  'controller-name',
  'allow-plain-controllers',
  'move-store',
  'host',
  'media-port',
  'device-port',
  'node-port',
  'console-port',
  'event-port',
  'site',
  'console-key',
  'older-clients',
  'get-access-token',
  'ffmpeg',
  'janus-config',
  'log-level',
] as const
export type Flag = (typeof flags)[number]

/** Flags of commands that print something and exit, without their dashes. */
export const commandFlags: readonly string[] = ['help', 'version', 'verify-log', 'janus-config', 'move-store']

const controllerNamePattern = /^(?! )[^\p{Cc}\p{Cf}]{1,64}(?<! )$/u
const moveTarget = z.enum(['database', 'files']).optional()
const logLevel = z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])

/**
 * Reads the options from flags and environment.
 * @param takesRelative whether paths may be relative to the working directory
 * @throws LaunchError
 */
export function readLaunchOptions(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  takesRelative = true,
): LaunchOptions {
  let values: Partial<Record<Flag, string>> & { help?: boolean; version?: boolean; 'verify-log'?: boolean }
  try {
    const string = { type: 'string' } as const
    const options = {
      ...Object.fromEntries(flags.map((flag) => [flag, string])),
      help: { type: 'boolean', short: 'h' },
      'verify-log': { type: 'boolean' },
      version: { type: 'boolean' },
    } as const
    values = parseArgs({ args: [...argv], options, allowPositionals: false }).values
  } catch (error) {
    throw new LaunchError(error instanceof Error ? error.message : 'The flags are wrong.')
  }
  const read = (flag: Flag): { from: string; text: string } | undefined => {
    const variable = `ROOMDESK_${flag.toUpperCase().replaceAll('-', '_')}`
    if (values[flag] !== undefined) return { from: `--${flag}`, text: values[flag] }
    const text = environment[variable]
    return text === undefined || text === '' ? undefined : { from: variable, text }
  }
  const path = (flag: Flag): string | undefined => {
    const given = read(flag)
    if (given === undefined) return undefined
    if (!takesRelative && !isAbsolute(given.text))
      throw new LaunchError(`${given.from} must be an absolute path: the working directory was deleted.`)
    return resolve(given.text)
  }
  const port = (flag: Flag): number | undefined => {
    const given = read(flag)
    if (given === undefined) return undefined
    if (!/^\d{1,5}$/.test(given.text) || Number(given.text) > 65_535) {
      throw new LaunchError(`${given.from} must be a port from 0 to 65535, not ${JSON.stringify(given.text)}.`)
    }
    return Number(given.text)
  }
  const onOrOff = (flag: Flag): boolean | undefined => {
    const given = read(flag)
    if (given === undefined) return undefined
    if (given.text !== 'on' && given.text !== 'off')
      throw new LaunchError(`${given.from} must be on or off, not ${JSON.stringify(given.text)}.`)
    return given.text === 'on'
  }
  const consoleKey = read('console-key')
  if (consoleKey !== undefined && consoleKey.text !== 'on')
    throw new LaunchError(
      `${consoleKey.from} must be on, not ${JSON.stringify(consoleKey.text)}: the settings switch it off.`,
    )
  const host = read('host')
  if (host !== undefined && !/^[\w.:%-]{1,253}$/.test(host.text))
    throw new LaunchError(`${host.from} must be an address or a host name.`)
  const level = read('log-level')
  const parsedLevel = logLevel.safeParse(level?.text ?? 'info')
  if (!parsedLevel.success)
    throw new LaunchError(`${level?.from ?? '--log-level'} must be one of ${logLevel.options.join(', ')}.`)
  const store = read('store')
  const moveStore = read('move-store')
  const target = moveTarget.safeParse(moveStore?.text)
  if (!target.success)
    throw new LaunchError(`${moveStore?.from} must be database or files, not ${JSON.stringify(moveStore?.text)}.`)
  const controllerName = read('controller-name')
  if (controllerName !== undefined && !controllerNamePattern.test(controllerName.text))
    throw new LaunchError(`${controllerName.from} must be a name of 1 to 64 characters without control characters.`)
  return {
    dataDir: path('data-dir') ?? resolve(defaultDataFolder(environment)),
    store: store?.text,
    storePasswordShown: values.store !== undefined && holdsPassword(values.store),
    storePasswordFile: path('store-password-file'),
    sealKey: path('seal-key'),
    controllerName: controllerName?.text,
    allowPlainControllers: onOrOff('allow-plain-controllers'),
    moveStore: target.data,
    host: host?.text,
    mediaPort: port('media-port'),
    devicePort: port('device-port'),
    nodePort: port('node-port'),
    consolePort: port('console-port'),
    eventPort: port('event-port'),
    recordingsDir: path('recordings-dir'),
    site: path('site'),
    consoleKey: consoleKey === undefined ? undefined : true,
    olderClients: onOrOff('older-clients'),
    getAccessToken: onOrOff('get-access-token'),
    ffmpeg: read('ffmpeg')?.text,
    logLevel: parsedLevel.data,
    janusConfig: read('janus-config')?.text,
    verifyLog: values['verify-log'] === true,
    version: values.version === true,
    help: values.help === true,
  }
}

/** Returns the default data folder of this user on this platform. */
function defaultDataFolder(environment: NodeJS.ProcessEnv): string {
  if (process.platform === 'win32') return localFolder(environment)
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'Roomdesk')
  return join(environment.XDG_DATA_HOME ?? join(homedir(), '.local', 'share'), 'roomdesk')
}

/** Returns the local folder of this user on Windows. A roaming folder would be copied to a server at each log-off. */
export function localFolder({ LOCALAPPDATA }: NodeJS.ProcessEnv): string {
  return join(LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'), 'Roomdesk')
}
