import { randomUUID } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { lockFolder } from '../files/folder-lock.ts'
import { closeToOthers } from '../files/folder-mode.ts'
import { Losses } from '../files/losses.ts'
import { roomNumberGap } from '../files/recovery.ts'
import { refuseFilesOfSite } from '../files/moved-site.ts'
import { type Migrations, migrations as knownMigrations, StoreVersionError } from '../migrations.ts'
import { Notices } from '../notices.ts'
import type { StoreOptions } from '../open-store.ts'
import type { Sealer } from '../sealer.ts'
import type { State } from '../state.ts'
import type { LedStore } from '../site-member.ts'
import type { StoreNotice } from '../store.ts'
import { type DatabaseAddress, parseDatabaseAddress } from './database-address.ts'
import { DatabaseError } from './database-error.ts'
import { DatabaseStorage } from './database-storage.ts'
import { lead, takeLock } from './leader.ts'
import { DatabaseStore } from './led-store.ts'
import { type DatabaseState, readState } from './read-state.ts'
import { bringTables, readSiteRow, tablesVersion } from './schema.ts'
import { defaultDeadlines, longAnswer, Session, type SessionDeadlines } from './session.ts'
import { saidBy } from './server-answers.ts'

/**
 * Opens the site that a database holds, or begins it there. The data folder keeps what is of this controller: keys, backups, the event log.
 * @throws DatabaseError when the database cannot be used, StoreVersionError when a newer Roomdesk wrote it (nothing is touched),
 * StoreLockedError when another process has the data folder
 */
export async function openDatabase(options: StoreOptions & { database: string }): Promise<LedStore> {
  const { folder, database, logger, clock = Date.now, databaseDeadlines: deadlines = defaultDeadlines } = options
  const address = parseDatabaseAddress(database)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const unlock = await lockFolder(folder, (error) =>
    logger?.warn({ err: error }, 'The file system of the data folder gives no locks.'),
  )
  let session: Session | undefined
  try {
    await refuseFilesOfSite(folder, address.shown)
    const mode = await closeToOthers(folder, clock())
    session = await connect(address, deadlines)
    return await openOn(options, address, session, mode === undefined ? [] : [mode], unlock)
  } catch (error) {
    await session?.close()
    await unlock()
    throw error
  }
}

/** @throws DatabaseError that says what to mend */
export async function connect(
  address: DatabaseAddress,
  deadlines: SessionDeadlines,
  answerMs = deadlines.answer,
): Promise<Session> {
  try {
    return await Session.open(address, deadlines, answerMs)
  } catch (error) {
    const mend = 'start PostgreSQL, or correct the address (--store).'
    throw new DatabaseError(`The database ${address.shown} cannot be used (${saidBy(error)}): ${mend}`, {
      cause: error,
    })
  }
}

/**
 * Makes this process the one that stores: nobody else does so afterwards, and what the tables hold is of this site.
 * @param take what becomes of a site that was moved away: opened no more, or replaced
 * @returns whether the database holds no site yet
 */
export async function takeDatabase(
  session: Session,
  address: DatabaseAddress,
  { sealer, migrations, take }: { sealer: Sealer; migrations: Migrations; take: 'site here' | 'moved site too' },
): Promise<{ fresh: boolean; moved: boolean; leadership: Awaited<ReturnType<typeof lead>> }> {
  await takeLock(session, address)
  await bringTables(session, address)
  const found = await readSiteRow(session)
  const site = found?.site ?? randomUUID()
  const proof = sealer.proof('database', site)
  if (found === undefined)
    await session.query('insert into roomdesk_site (id, site, tables, records, key_proof) values (1, $1, $2, $3, $4)', [
      site,
      tablesVersion,
      migrations.current,
      proof,
    ])
  else {
    if (found.records > migrations.current)
      throw new StoreVersionError(
        [{ file: `the database ${address.shown}`, version: found.records }],
        migrations.current,
      )
    if (found.key_proof !== proof)
      throw new DatabaseError(
        `The database ${address.shown} holds a site whose secrets were sealed with another key: put the seal.key of that site into the data folder, or name another database.`,
      )
    if (found.moved_to !== '' && take === 'site here')
      throw new DatabaseError(
        `The site in the database ${address.shown} was moved to ${found.moved_to}: start with that, or move it back (--move-store).`,
      )
  }
  const leadership = await lead(session, randomUUID())
  await session.query('update roomdesk_site set records = $1', [migrations.current])
  return { fresh: found === undefined, moved: (found?.moved_to ?? '') !== '', leadership }
}

async function openOn(
  options: StoreOptions,
  address: DatabaseAddress,
  session: Session,
  found: StoreNotice[],
  unlock: () => Promise<void>,
): Promise<LedStore> {
  const { folder, sealer, logger, clock = Date.now, migrations = knownMigrations } = options
  const { databaseDeadlines: deadlines = defaultDeadlines } = options
  const { leadership } = await takeDatabase(session, address, { sealer, migrations, take: 'site here' })
  const read = await readAll(address, deadlines, migrations)
  found.push(...noticesOf(read, address, migrations, clock()))
  const notices = new Notices(logger)
  for (const notice of found) notices.add(notice)
  const losses = await Losses.open(folder, found)
  if (read.lost > 0)
    await losses.keep().catch((error: unknown) => {
      logger?.warn({ err: error }, 'What was lost cannot be kept for the next start.')
    })
  const { state } = read
  const roomNumbers = { last: read.roomNumber + (read.lost > 0 ? roomNumberGap : 0) }
  const storage = new DatabaseStorage({
    address,
    deadlines,
    session,
    leadership,
    state,
    version: migrations.current,
    roomNumber: () => roomNumbers.last,
    clock,
    last: read.last,
    journalBytes: read.journalBytes,
    snapshotBytes: read.snapshotBytes,
    snapshotAt: read.snapshotAt === 0 ? clock() : read.snapshotAt,
    onMadeGood: (lines) => {
      const message = `The database had come back without ${lines} confirmed changes: they were stored again, nothing is lost.`
      notices.add({ level: 'warning', at: clock(), code: 'recovered', message })
    },
  })
  const store = new DatabaseStore({
    folder,
    state,
    storage,
    snapshotAfterBytes: options.snapshotAfterBytes,
    sealer,
    notices,
    losses,
    clock,
    deadlineMs: options.deadlineMs,
    migrations,
    roomNumbers,
    unlock,
    onError: (error) => logger?.error({ err: error }, 'Something in the store failed that nobody foresaw.'),
  })
  // What is of an earlier version, or was damaged, is written anew; a failure shows in the status.
  if (read.oldest !== migrations.current || read.lost > 0 || read.fellBack) store.rewrite().catch(() => undefined)
  return store
}

/** Reads with time for a large site. */
export async function readAll(
  address: DatabaseAddress,
  deadlines: SessionDeadlines,
  migrations: Migrations,
): Promise<DatabaseState> {
  const session = await connect(address, deadlines, longAnswer)
  try {
    return await readState(session, migrations, address)
  } finally {
    await session.close()
  }
}

/** The records of the site that a database holds, whoever runs on it: they are only read. @throws DatabaseError when it holds none */
export async function siteInDatabase(database: string, migrations = knownMigrations): Promise<State> {
  const address = parseDatabaseAddress(database)
  const session = await connect(address, defaultDeadlines, longAnswer)
  try {
    if ((await readSiteRow(session)) === undefined) throw noSiteIn(address)
    // All of one instant: a controller may be storing.
    await session.query('begin isolation level repeatable read, read only')
    return (await readState(session, migrations, address)).state
  } finally {
    await session.close()
  }
}

export function noSiteIn({ shown }: DatabaseAddress): DatabaseError {
  return new DatabaseError(`The database ${shown} holds no site: correct the address (--store).`)
}

function noticesOf(
  { lost, fellBack, oldest }: DatabaseState,
  { shown }: DatabaseAddress,
  { current }: Migrations,
  at: number,
): StoreNotice[] {
  const notices: StoreNotice[] = []
  if (fellBack) {
    const message = `The newest snapshot in the database ${shown} was damaged: the one before it and the journal were read, nothing was lost.`
    notices.push({ level: 'warning', at, code: 'recovered', message })
  }
  if (lost > 0) {
    const changes = lost === 1 ? 'One confirmed change is' : `${lost} confirmed changes are`
    const message = `${changes} missing or damaged in the journal of the database ${shown}.`
    notices.push({ level: 'warning', at, code: 'damaged', message, lost: true })
  }
  if (oldest !== current) {
    const message = `The records in the database ${shown} were brought from version ${oldest} to ${current}.`
    notices.push({ level: 'info', at, code: 'migrated', message })
  }
  return notices
}
