import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { LogFault, LogVerdict } from '../../shared/domain/events.ts'
import { highWaterMarkKey } from '../event-log/log-seal.ts'
import { verifySiteLog } from '../event-log/site/site-chain.ts'
import { verifyLog } from '../event-log/verify.ts'
import { eventsFolder } from '../store/backups/backup-events.ts'
import { readControllerId } from '../store/election/controller-id.ts'
import { KeyFileError, loadKeyFile } from '../store/files/key-file.ts'
import { readSite, UnreadableSiteError } from '../store/open-store.ts'
import { parseDatabaseAddress } from '../store/postgres/database-address.ts'
import { defaultDeadlines, longAnswer } from '../store/postgres/database-session.ts'
import { connectDatabase } from '../store/postgres/open-database.ts'
import { createSealer, type Sealer } from '../store/sealer.ts'

/** Text that a command prints on stdout, and the exit code of its process. */
export interface Report {
  text: string
  code: number
}

const faults: Readonly<Record<LogFault, string>> = {
  headMissing: 'its seal (head.json) was taken away: from this entry on it goes on without one',
  headForged: 'its seal (head.json) was changed, or created with another key',
  segmentMissing: 'a file of it is missing',
  changed: 'the entry was changed',
  missing: 'an entry was removed before it',
  cutOff: 'its end was cut off',
  shortened: 'it had this entry, as the store knows, and ends before it',
  unreadable: 'a file of it cannot be read',
}

export interface CheckedLog {
  dataDir: string
  /** Address of the database with the site; undefined: the site is in files. */
  store: string | undefined
  /** File of the key; undefined: `seal.key` in the data folder. */
  sealKey: string | undefined
}

/**
 * Verifies the event log of a data folder, and the event log of a site in a database. The exit code is 1 if one of the
 * logs was modified.
 * @throws KeyFileError without the key of the folder, DatabaseError
 */
export async function checkLog({ dataDir: dataFolder, store: database, sealKey }: CheckedLog): Promise<Report> {
  const sealer = await sealerOf(sealKey ?? join(dataFolder, 'seal.key'))
  const reached = await reachedIn(dataFolder, database)
  const own = await verifyLog(join(dataFolder, eventsFolder), sealer, { reached })
  if (database === undefined) return reportOf([[own, 'The event log']])
  const ofSite = await siteVerdict(database, sealer)
  return reportOf([
    [own, 'The event log of this controller'],
    [ofSite, 'The event log of the site'],
  ])
}

function reportOf(verdicts: readonly (readonly [LogVerdict, string])[]): Report {
  return {
    text: verdicts.map(([verdict, log]) => `${verdictText(verdict, log)}\n`).join(''),
    code: verdicts.every(([{ ok }]) => ok) ? 0 : 1,
  }
}

/** @throws DatabaseError, errors of the database */
async function siteVerdict(database: string, sealer: Sealer): Promise<LogVerdict> {
  const session = await connectDatabase(parseDatabaseAddress(database), defaultDeadlines, longAnswer)
  try {
    return await verifySiteLog(session, sealer)
  } finally {
    await session.close()
  }
}

async function sealerOf(keyFile: string): Promise<Sealer> {
  // The command must not create a folder or a key.
  if (!existsSync(keyFile)) {
    const where = 'A folder of the desktop app, whose key is in the keychain, is checked by the button in its console.'
    throw new KeyFileError(
      `${keyFile} is missing: without it nobody can tell whether the event log was changed. ${where}`,
    )
  }
  return createSealer(await loadKeyFile(keyFile))
}

/** Returns the minimum sequence number of the log's end according to the site's store; 0: the store cannot be read. */
async function reachedIn(dataFolder: string, database: string | undefined): Promise<number> {
  const controller = database === undefined ? '' : ((await readControllerId(dataFolder)) ?? '')
  try {
    const { last_uses: uses } = await readSite(dataFolder, database)
    return uses.get(highWaterMarkKey(controller))?.seq ?? 0
  } catch (error) {
    if (!(error instanceof UnreadableSiteError)) throw error
    process.stderr.write(`${error.message} Whether the log was longer is not checked.\n`)
    return 0
  }
}

function verdictText(
  { ok, entries, oldest, newest, unsealed, fault, first_bad, file, milliseconds }: LogVerdict,
  log: string,
): string {
  if (ok || fault === null) {
    const range = entries === 0 ? '' : `, from ${oldest} to ${newest}`
    const end =
      unsealed === 0
        ? ''
        : ` The last ${unsealed} were written after the seal, as a crash or a running controller leaves them.`
    return `${log} is whole: ${entries} entries${range}, in ${milliseconds} ms.${end}`
  }
  const where = file === '' ? '' : ` (${file})`
  return `${log} is not as it was written: first bad entry ${first_bad}${where}: ${faults[fault]}.`
}
