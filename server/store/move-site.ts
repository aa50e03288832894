import { mkdir } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { hasCode } from '../../shared/error-code.ts'
import { wallClock } from './system/time.ts'
import { DocumentAdapter, newWriteQueue } from './files/document-adapter.ts'
import { documentNames } from './files/documents.ts'
import { lockFolder } from './files/folder-lock.ts'
import {
  beginMove,
  endMoveToDatabase,
  endMoveToFiles,
  filesOfSite,
  type MoveTarget,
  putFilesAside,
  readMoveMark,
  refuseMovedSite,
  refuseUnfinished,
} from './files/moved-site.ts'
import { openFiles } from './files/open-files.ts'
import { readFolder } from './files/recovery.ts'
import { StoreFileError } from './files/store-file-error.ts'
import { migrations } from './migrations.ts'
import { type DatabaseAddress, parseDatabaseAddress } from './postgres/database-address.ts'
import { DatabaseError } from './postgres/database-error.ts'
import { connectDatabase, noSiteIn, readAll, takeDatabase } from './postgres/open-database.ts'
import { isOfServer, mendOf, messageOf } from './postgres/server-answers.ts'
import { readSiteState } from './postgres/read-state.ts'
import { readSiteRow } from './postgres/schema.ts'
import { defaultDeadlines, longAnswer, type DatabaseSession } from './postgres/database-session.ts'
import { freeze, insertSnapshot } from './postgres/snapshot-rows.ts'
import { loadKeyFile } from './files/key-file.ts'
import { createSealer, type Sealer } from './sealer.ts'
import { collectionNames, type State } from './state.ts'

export interface MoveOptions {
  /** The data folder, which belongs to this controller before and after the move. */
  folder: string
  database: string | undefined
  to: MoveTarget
}

interface Site {
  state: State
  /** The highest room number ever assigned. */
  roomNumber: number
}

/**
 * Moves a site between the files of a data folder and a database. Compares every record before the source is marked as
 * moved. The source keeps a copy, which no later start uses. If the move is interrupted, another call finishes it.
 * @returns a summary of the moved records, for the operator
 * @throws DatabaseError, StoreFileError when the target holds another site or cannot be used; nothing is changed then
 */
export async function moveStore({ folder, database, to }: MoveOptions): Promise<string> {
  if (database === undefined)
    throw new DatabaseError('--move-store needs the address of the database: --store postgres://user@host/database.')
  const address = parseDatabaseAddress(database)
  const sealer = createSealer(await loadKeyFile(join(folder, 'seal.key')))
  const session = await connectDatabase(address, defaultDeadlines, longAnswer)
  try {
    const site = await (to === 'database'
      ? moveToDatabase(folder, address, session, sealer)
      : moveToFiles(folder, address, session, sealer))
    const counts = collectionNames
      .filter((name) => site.state[name].size > 0)
      .map((name) => `${name} ${site.state[name].size}`)
    const where = to === 'database' ? `the database ${address.shown}` : `the files of ${folder}`
    const start = to === 'database' ? 'Start with --store from now on' : 'Start without --store from now on'
    return `The site is in ${where} now; every record was compared (${counts.join(', ')}). ${start}.`
  } catch (error) {
    throw notMoved(error, folder, address)
  } finally {
    await session.close()
  }
}

/** Returns the error with advice for the operator; an error that already contains advice is returned unchanged. */
function notMoved(error: unknown, folder: string, { shown }: DatabaseAddress): unknown {
  const again = 'The site is where it was; then start the move once more.'
  if (isOfServer(error))
    return new DatabaseError(
      `The database ${shown} cannot take or give the site (${messageOf(error)}): ${mendOf(error)} ${again}`,
      {
        cause: error,
      },
    )
  if (hasCode(error, 'ENOSPC', 'EDQUOT'))
    return new StoreFileError(`The disk of ${folder} is full: make room on it. ${again}`, { cause: error })
  return error
}

async function moveToDatabase(
  folder: string,
  address: DatabaseAddress,
  session: DatabaseSession,
  sealer: Sealer,
): Promise<Site> {
  await resumeMoveToDatabase(folder)
  if ((await filesOfSite(folder)).length === 0)
    throw new StoreFileError(`${folder} holds no site in files: correct the data folder (--data-dir).`)
  // First recovers the files from a crash or an earlier version.
  await (await openFiles({ folder, sealer })).close()
  const unlock = await lockFolder(folder)
  try {
    const site = await readFolder(folder, migrations)
    const { fresh, moved, won } = await takeDatabase(session, {
      address,
      sealer,
      migrations,
      take: 'moved site too',
    })
    if (!fresh && !moved) {
      const there = await readSiteState(session, migrations, address)
      // The database must be empty, or hold the result of an earlier call.
      if (!isEmpty(there.state) && difference(site.state, there.state) !== undefined)
        throw new DatabaseError(
          `The database ${address.shown} is not empty: it holds a site already. Name another database.`,
        )
    }
    await session.query('begin')
    await session.query('delete from roomdesk_journal')
    await session.query('delete from roomdesk_snapshot')
    const head = { seq: 0, records: migrations.current, roomNumber: site.roomNumber, writtenAt: wallClock() }
    await insertSnapshot(session, head, freeze(site.state), () => won.term)
    await session.query(`update roomdesk_site set moved_to = '', moved_at = null`)
    const written = await readSiteState(session, migrations, address)
    compare(site, written, `the database ${address.shown}`)
    // From here on, a controller refuses to start from the files and, until the move is complete, from the database.
    await beginMove(folder, address.shown, 'database')
    try {
      await session.query('commit')
    } catch (error) {
      // The next call checks whether the move was stored.
      throw new DatabaseError(`The database ${address.shown} did not confirm the move: start it once more.`, {
        cause: error,
      })
    }
    await endMoveToDatabase(folder, address.shown)
    await putFilesAside(folder, wallClock())
    return site
  } finally {
    await unlock()
  }
}

/**
 * Resumes a move to the database. The files stay complete until the database contains the whole site, so an interrupted
 * move starts from the beginning.
 */
async function resumeMoveToDatabase(folder: string): Promise<void> {
  const mark = await readMoveMark(folder)
  if (mark === undefined) return
  refuseUnfinished(folder, mark, 'database')
  if (mark.unfinished !== undefined) return await endMoveToFiles(folder)
  await putLeftoversAside(folder)
  await refuseMovedSite(folder)
}

async function putLeftoversAside(folder: string): Promise<void> {
  if ((await filesOfSite(folder)).length > 0) await putFilesAside(folder, wallClock())
}

async function moveToFiles(
  folder: string,
  address: DatabaseAddress,
  session: DatabaseSession,
  sealer: Sealer,
): Promise<Site> {
  if ((await readSiteRow(session)) === undefined) throw noSiteIn(address)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const unlock = await lockFolder(folder)
  try {
    const mark = await readMoveMark(folder)
    if (mark !== undefined) {
      refuseUnfinished(folder, mark, 'files')
      if (mark.unfinished === undefined) await putLeftoversAside(folder)
    }
    const files = await filesOfSite(folder)
    const begun = mark?.unfinished === 'files'
    if (files.length > 0 && !begun)
      throw new StoreFileError(
        `${folder} is not empty: it holds a site in files. Choose another data folder (--data-dir).`,
      )
    const take = files.length > 0 ? 'moved site too' : 'site here'
    await takeDatabase(session, { address, sealer, migrations, take })
    const site = await readAll(address, defaultDeadlines, migrations)
    if (site.lost > 0)
      throw new DatabaseError(
        `${site.lost} changes are missing in the journal of the database ${address.shown}: put it back from a backup of its own, or start Roomdesk with it once, which goes on without them.`,
      )
    // Until the files are complete, the site is in the database, and no start uses the database or the files.
    await beginMove(folder, address.shown, 'files')
    await putLeftoversAside(folder)
    await writeFiles(folder, site)
    compare(site, await readFolder(folder, migrations), `the files of ${folder}`)
    await session.query(`update roomdesk_site set moved_to = $1, moved_at = now()`, [
      `the files of ${folder} on ${hostname()}`,
    ])
    await endMoveToFiles(folder)
    return site
  } finally {
    await unlock()
  }
}

async function writeFiles(folder: string, { state, roomNumber }: Site): Promise<void> {
  const document = { first_segment: 1, written_at: wallClock(), room_number: roomNumber, state }
  const queue = newWriteQueue()
  for (const name of documentNames)
    await new DocumentAdapter({ folder, name, version: migrations.current, queue, read: async () => document }).write(
      document,
    )
}

const isEmpty = (state: State): boolean => collectionNames.every((name) => state[name].size === 0)

/** Compares two copies of a site. @throws DatabaseError when a record differs */
function compare(from: Site, to: Site, where: string): void {
  const record =
    difference(from.state, to.state) ?? (to.roomNumber < from.roomNumber ? 'the highest room number' : undefined)
  if (record !== undefined)
    throw new DatabaseError(`${record} is not the same in ${where}: nothing was moved. Please report this.`)
}

/** Returns the name of the first record that differs or has a different position; undefined: the states are equal. */
function difference(from: State, to: State): string | undefined {
  for (const name of collectionNames) {
    const [left, right] = [[...from[name]], [...to[name]]]
    for (let i = 0; i < Math.max(left.length, right.length); i++)
      if (JSON.stringify(left[i]) !== JSON.stringify(right[i]))
        return `${name} ${JSON.stringify((left[i] ?? right[i])?.[0])}`
  }
  return undefined
}
