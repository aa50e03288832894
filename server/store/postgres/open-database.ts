import { takeDataFolder } from '../files/data-folder.ts'
import { uuid } from '../system/system.ts'
import { type Migrations, migrations as knownMigrations } from '../migrations.ts'
import type { StoreOptions } from '../store-options.ts'
import type { FencedStore } from '../election/site-member.ts'
import type { State } from '../state.ts'
import { type DatabaseAddress, parseDatabaseAddress } from './database-address.ts'
import { DatabaseError } from './database-error.ts'
import { type WonTerm, lead, takeLock, toolOf } from '../election/leader.ts'
import { JournalTrail } from '../election/term-history.ts'
import { openLeaderSite } from '../election/database-store.ts'
import { type DatabaseState, readSiteState } from './read-state.ts'
import { openRoomNumberFile } from './room-numbers.ts'
import { bringTables, readSiteRow, sayRecords, settleSite, type SiteCheck } from './schema.ts'
import { beginTerm } from '../election/journal-rows.ts'
import { defaultDeadlines, longAnswer, DatabaseSession } from './database-session.ts'
import type { SessionDeadlines } from '../store-options.ts'
import { mendOf, messageOf } from './server-answers.ts'

/**
 * Opens the site in a database, or creates it there. The data folder contains what belongs to this controller: keys,
 * backups, the event log.
 * @throws DatabaseError when the database cannot be used
 * @throws StoreVersionError when a newer Roomdesk wrote the database (nothing is changed)
 * @throws StoreLockedError when another process uses the data folder
 */
export async function openDatabase(options: StoreOptions & { database: string }): Promise<FencedStore> {
  const { folder, database, logger, databaseDeadlines: deadlines = defaultDeadlines } = options
  const address = parseDatabaseAddress(database)
  const { found, unlock } = await takeDataFolder(options, address.shown)
  let session: DatabaseSession | undefined
  try {
    session = await connectDatabase(address, deadlines)
    const { sealer, migrations = knownMigrations } = options
    const { won } = await takeDatabase(session, { address, sealer, migrations, take: 'site here' })
    const read = await readAll(address, deadlines, migrations)
    const roomNumbers = await openRoomNumberFile(folder, logger)
    const trail = new JournalTrail()
    const stored = await beginTerm(session, won.term, read.last)
    const site = { address, session, won, read, stored, trail, found, roomNumbers, unlock }
    return await openLeaderSite(options, site)
  } catch (error) {
    await session?.close()
    await unlock()
    throw error
  }
}

/** Connects to the database. @throws DatabaseError with advice */
export async function connectDatabase(
  address: DatabaseAddress,
  deadlines: SessionDeadlines,
  answerMs = deadlines.answer,
): Promise<DatabaseSession> {
  try {
    return await DatabaseSession.open(address, deadlines, answerMs)
  } catch (error) {
    throw cannotBeUsed(address, error)
  }
}

export function cannotBeUsed({ shown }: DatabaseAddress, cause: unknown): DatabaseError {
  if (cause instanceof DatabaseError) return cause
  return new DatabaseError(`The database ${shown} cannot be used (${messageOf(cause)}): ${mendOf(cause)}`, { cause })
}

/**
 * Takes over writing from any other process, and checks that the tables belong to this site.
 * @returns `fresh`: the database held no site; `moved`: the site was moved away; `won`: the new term
 */
export async function takeDatabase(
  session: DatabaseSession,
  check: SiteCheck,
): Promise<{ fresh: boolean; moved: boolean; won: WonTerm }> {
  await takeLock(session, check.address)
  await bringTables(session, check.address)
  const { fresh, moved } = await settleSite(session, check)
  const won = await lead(session, toolOf(uuid()))
  await sayRecords(session, check.migrations)
  return { fresh, moved, won }
}

/** Reads the whole state with a deadline for large sites. */
export async function readAll(
  address: DatabaseAddress,
  deadlines: SessionDeadlines,
  migrations: Migrations,
): Promise<DatabaseState> {
  const session = await connectDatabase(address, deadlines, longAnswer)
  try {
    return await readSiteState(session, migrations, address)
  } finally {
    await session.close()
  }
}

/**
 * Reads the records of the site in a database, even while controllers run on it.
 * @throws DatabaseError when the database holds no site
 */
export async function siteInDatabase(database: string, migrations = knownMigrations): Promise<State> {
  const address = parseDatabaseAddress(database)
  const session = await connectDatabase(address, defaultDeadlines, longAnswer)
  try {
    if ((await readSiteRow(session)) === undefined) throw noSiteIn(address)
    // One consistent state: a controller may be storing changes.
    await session.query('begin isolation level repeatable read, read only')
    return (await readSiteState(session, migrations, address)).state
  } finally {
    await session.close()
  }
}

export function noSiteIn({ shown }: DatabaseAddress): DatabaseError {
  return new DatabaseError(`The database ${shown} holds no site: correct the address (--store).`)
}
