import type { Logger } from 'pino'
import type { DatabaseRisk } from '../store/postgres/database-safety.ts'
import type { SiteKeyView } from '../../shared/console/site.ts'
import type { HashCost } from '../access/accounts/password-hash.ts'
import type { SiteControllers } from '../console/site-controllers.ts'
import type { FixedCompatibility } from '../field-api/older-clients.ts'
import type { ListenerOverrides } from '../http/listeners.ts'
import type { Restarts } from './restarts.ts'
import type { MediaProgram } from './embedded-programs.ts'
import type { SiteFile } from './site-file.ts'
import type { Sealer } from '../store/sealer.ts'

/** How to compose a controller. */
export interface ControllerOptions {
  /** Made when there is none. */
  dataFolder: string
  /** Address of the database that holds the site's state; left out: files of the data folder do. */
  database?: string | undefined
  /** Why the way to the database is not safe; left out: it is, or there is none. */
  databaseRisk?: DatabaseRisk | undefined
  /** Of this controller, among those of a site in a database; left out: the name of its machine. */
  name?: string | undefined
  /** Other controllers may be called in plain HTTP on other machines, too; left out: they may not. */
  allowPlainControllers?: boolean | undefined
  logger: Logger
  /** Shown in the console. */
  version: string
  /** Left out: AES-256-GCM with a key file. */
  sealer?: Sealer
  /** The key file; left out: `<data folder>/seal.key`. */
  sealKey?: string | undefined
  /** What the console says of that key; left out: it is in that file, as it should be. */
  siteKey?: SiteKeyView
  /** Flags: they come before the settings. */
  overrides?: ListenerOverrides
  /** Of flags or the environment: they come before the settings. */
  compatibility?: FixedCompatibility
  /** What the process before this one told, when it started itself again. */
  restarts?: Restarts
  /** Applied before anything listens. */
  site?: SiteFile | undefined
  /** Where that was read, for the event log. */
  sitePath?: string | undefined
  /** The program of the embedded node; left out: no node of that kind works here. */
  media?: MediaProgram | undefined
  /** Cores that embedded nodes can have; left out: as many as the system gives this program. */
  cores?: number | undefined
  /** Between two looks at the files of the certificate, in milliseconds. */
  certificateLookMs?: number | undefined
  /** The console key is a way in again, whatever the settings say: for who has the machine and nothing else. */
  keySignIn?: boolean | undefined
  /** See ServiceOptions. */
  passwordCost?: HashCost | undefined
  accountClock?: (() => number) | undefined
  /** The controllers of the site, where it is opened by itself; left out: this one is the only one. */
  controllers?: SiteControllers | undefined
  /** Folder of the built console, to serve it on the console port; left out: no console port (the desktop has its own transport). */
  consolePage?: string
}
