import type { Migrations } from './migrations.ts'
import type { StoreLogger } from './notices.ts'
import type { Sealer } from './sealer.ts'

/** Deadlines of a connection to a database, in milliseconds. */
export interface SessionDeadlines {
  /** Time for a host to accept the connection before the next host is tried. */
  connect: number
  /** Time for one statement to be answered before the connection counts as broken. */
  answer: number
}

/** Options of a store, whether it is in files or in a database. */
export interface StoreOptions {
  /** The data folder; made when there is none. */
  folder: string
  /** Address of the PostgreSQL database that holds the site's state, `postgres://…`; left out: files in the data folder do. */
  database?: string | undefined
  /** Deadlines of its connections: for tests. */
  databaseDeadlines?: SessionDeadlines
  sealer: Sealer
  logger?: StoreLogger
  /** Milliseconds since the epoch. */
  clock?: () => number
  /** How long a change may take, in milliseconds: asked for each, so that it can be a setting. Default: settings.deadlines.store_ms, 5 s. */
  deadlineMs?: () => number
  /** A snapshot is made when the journal is this large, in bytes, and as large as the snapshot. */
  snapshotAfterBytes?: number
  /** Between two backups made by themselves, in milliseconds: for tests. Infinite: none is made. Default: an hour. */
  backupEveryMs?: number
  /** Other schema versions than this program's: for tests of migrations. */
  migrations?: Migrations
}
