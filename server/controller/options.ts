import type { Logger } from 'pino'
import type { DatabaseRisk } from '../store/postgres/database-safety.ts'
import type { SiteKeyView } from '../../shared/console/site.ts'
import type { HashCost } from '../access/accounts/password-hash.ts'
import type { SiteControllers } from '../console/site-controllers.ts'
import type { FixedCompatibility } from '../field-api/older-clients.ts'
import type { ListenerOverrides } from '../http/listeners.ts'
import type { Checks } from '../readiness/readiness.ts'
import type { Restarts } from './restarts.ts'
import type { MediaProgram } from './embedded-programs.ts'
import type { SiteFile } from './site-file.ts'
import type { Sealer } from '../store/sealer.ts'

/** Traces of a program, for diagnostics. */
export interface ProgramTraces {
  /** Last lines of the log of this process. */
  recentLog?: () => string
  /** Files of the log, the current one first. */
  logFiles?: readonly string[] | undefined
  /** Folder of crash reports. */
  crashFolder?: string | undefined
}

/** Options of a controller. */
export interface ControllerOptions {
  /** Created when it does not exist. */
  dataFolder: string
  /** Address of the database with the site's state; left out: the state is in files of the data folder. */
  database?: string | undefined
  /** Why the connection to the database is not safe; left out: it is, or there is none. */
  databaseRisk?: DatabaseRisk | undefined
  /** Name of this controller among those of its site; left out: the name of its machine. */
  name?: string | undefined
  /** Allows plain HTTP to controllers on other machines; left out: refused. */
  allowPlainControllers?: boolean | undefined
  /** Folder of recordings, which exists; left out: `recordings` in the data folder. */
  recordingsDir?: string | undefined
  logger: Logger
  /** Version that the console shows. */
  version: string
  /** Sealer of secrets; left out: AES-256-GCM with a key file. */
  sealer?: Sealer
  /** Path of the key file; left out: `<data folder>/seal.key`. */
  sealKey?: string | undefined
  /** View of that key for the console; left out: it lies in that file, protected. */
  siteKey?: SiteKeyView
  /** Hosts and ports of the flags; they override the settings. */
  overrides?: ListenerOverrides
  /** Switches of flags or the environment; they override the settings. */
  compatibility?: FixedCompatibility
  /** Restarts of this program by itself. */
  restarts?: Restarts
  /** Site file, applied before anything listens. */
  site?: SiteFile | undefined
  /** Path of the site file, for the event log. */
  sitePath?: string | undefined
  /** Program of the embedded node; left out: this controller has no embedded nodes. */
  media?: MediaProgram | undefined
  /** Cores for embedded nodes; left out: as many as the system gives this program. */
  cores?: number | undefined
  /** Interval between two checks of the certificate's files, in milliseconds. */
  certificateLookMs?: number | undefined
  /** Turns signing in with the console key on again: for an operator who has lost every account. */
  keySignIn?: boolean | undefined
  /** See ServiceOptions. */
  passwordCost?: HashCost | undefined
  accountClock?: (() => number) | undefined
  /** Controllers of the site; left out: this one is the only one. */
  controllers?: SiteControllers | undefined
  /** Readiness checks of the face of this controller, beside those of every controller or in their place. */
  readinessChecks?: Checks | undefined
  /** Sources of diagnostics beside the site itself. */
  diagnostics?: ProgramTraces | undefined
  /** Folder of the built player page for live streams and recordings; left out: none is served. */
  playerPage?: string | undefined
  /** Folder of the built console, served on the console port; left out: no console port. */
  consolePage?: string
  /** The console port is open only while a flag or the setting `listeners.serve_console` says so: the desktop has its own transport. Left out: it always is. */
  consoleIsChosen?: boolean
}
