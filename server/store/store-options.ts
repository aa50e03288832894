import type { FlushGate } from './storage.ts'
import type { Migrations } from './migrations.ts'
import type { StoreLogger } from './notices.ts'
import type { Sealer } from './sealer.ts'

/** Deadlines of a connection to a database, in milliseconds. */
export interface SessionDeadlines {
  /** Maximum time for a host to accept the connection before the next host is tried. */
  connect: number
  /** Maximum time for the answer to a statement before the connection counts as broken. */
  answer: number
}

export interface StoreOptions {
  /** The data folder; created if it does not exist. */
  folder: string
  /**
   * Address of the PostgreSQL database with the site's state, `postgres://…`; left out: the state is in files of the
   * data folder.
   */
  database?: string | undefined
  /** Deadlines of database connections: for tests. */
  databaseDeadlines?: SessionDeadlines
  sealer: Sealer
  logger?: StoreLogger
  /** Milliseconds since the epoch. */
  clock?: () => number
  /**
   * Returns the maximum duration of a change, in milliseconds. Called for each change, so that it can be a setting.
   * Default: settings.deadlines.store_ms, 5 s.
   */
  deadlineMs?: () => number
  /**
   * Size of the journal that triggers a snapshot, in bytes. The journal must also be at least as large as the last
   * snapshot.
   */
  snapshotAfterBytes?: number
  /** Interval of automatic backups, in milliseconds: for tests. Infinity: none. Default: an hour. */
  backupEveryMs?: number
  /** Gate that each flush passes before it starts. Left out: flushes start at once. */
  flushGate?: FlushGate
  /** Schema versions instead of this program's own: for tests of migrations. */
  migrations?: Migrations
}
