import type { Logger } from 'pino'
import type { SiteKeyView } from '../../shared/console/site.ts'
import type { Settings } from '../../shared/settings.ts'
import type { SiteFile } from '../../shared/site-file.ts'
import type { HashCost } from '../access/accounts/password-hash.ts'
import type { SiteControllers } from '../console/site-controllers.ts'
import type { ListenerOverrides } from '../http/listeners.ts'
import type { FixedCompatibility } from '../http/older-clients.ts'
import type { Checks } from '../readiness/readiness.ts'
import type { DatabaseRisk } from '../../shared/domain/database-risks.ts'
import type { Sealer } from '../store/sealer.ts'
import type { MediaProgram } from './embedded-programs.ts'
import type { Restarts } from './restarts.ts'

/** Logs and crash reports of a program, for diagnostics. */
export interface ProgramTraces {
  /** Returns the last lines of this process's log. */
  recentLog?: () => string
  /** Files of the log, the current one first. */
  logFiles?: readonly string[] | undefined
  crashFolder?: string | undefined
}

export interface ControllerOptions {
  /** Folder of the site, created if it does not exist. */
  dataFolder: string
  /** Address of the database with the site's state; undefined: the state is in files of the data folder. */
  database?: string | undefined
  /** Reason why the connection to the database is not secure; undefined: secure, or no database. */
  databaseRisk?: DatabaseRisk | undefined
  /** Name of this controller within its site; undefined: the name of its machine. */
  name?: string | undefined
  /** Whether plain HTTP to controllers on other machines is allowed; undefined: refused. */
  allowPlainControllers?: boolean | undefined
  /** Existing folder of recordings; undefined: `recordings` in the data folder. */
  recordingsDir?: string | undefined
  logger: Logger
  /** Version shown in the console. */
  version: string
  /** Sealer of secrets; undefined: AES-256-GCM with a key file. */
  sealer?: Sealer
  /** Path of the key file; undefined: `<data folder>/seal.key`. */
  sealKey?: string | undefined
  /** View of the sealing key for the console; undefined: the key is in the protected key file. */
  siteKey?: SiteKeyView
  /** Hosts and ports from flags, which override the settings. */
  overrides?: ListenerOverrides
  /** Switches from flags or the environment, which override the settings. */
  compatibility?: FixedCompatibility
  /** Automatic restarts of this program. */
  restarts?: Restarts
  /** Site file, applied before any port opens. */
  site?: SiteFile | undefined
  /** Path of the site file, for the event log. */
  sitePath?: string | undefined
  /** Program of the embedded node; undefined: this controller has no embedded nodes. */
  media?: MediaProgram | undefined
  /** Number of cores for embedded nodes; undefined: all cores available to this program. */
  cores?: number | undefined
  /** Interval between two checks of the certificate's files, in milliseconds. */
  certificateLookMs?: number | undefined
  /** Whether to enable sign-in with the console key again, for an operator who has lost access to all accounts. */
  keySignIn?: boolean | undefined
  /** See AccessOptions. */
  passwordCost?: HashCost | undefined
  accountClock?: (() => number) | undefined
  /** Controllers of the site; undefined: the only controller. */
  controllers?: SiteControllers | undefined
  /** Additional or replacement readiness checks of this controller's start mode. */
  readinessChecks?: Checks | undefined
  /** Sources of diagnostics in addition to the site. */
  diagnostics?: ProgramTraces | undefined
  /** Folder of the built player page for live streams and recordings; undefined: the page is not served. */
  playerPage?: string | undefined
  /** Folder of the built console, served on the console port; undefined: there is no console port. */
  consolePage?: string
  /**
   * Whether the console port is open only if a flag or the setting `listeners.serve_console` enables it, because the
   * desktop has its own transport. undefined: the port is always open.
   */
  consoleIsChosen?: boolean
}

/** Whether a controller with these options serves its console to browsers. */
export function servesConsole(
  {
    consolePage,
    consoleIsChosen = false,
    overrides,
  }: Pick<ControllerOptions, 'consolePage' | 'consoleIsChosen' | 'overrides'>,
  { listeners }: Pick<Settings, 'listeners'>,
): boolean {
  if (consolePage === undefined) return false
  return !consoleIsChosen || listeners.serve_console || overrides?.console_port !== undefined
}
