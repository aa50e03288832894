import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { LogFault, LogVerdict } from '../../shared/console/events.ts'
import { boundKey } from '../event-log/end-bound.ts'
import { verifyLog } from '../event-log/verify.ts'
import { readSite, UnreadableSiteError } from '../controller/read-site.ts'
import { eventsFolder } from '../store/backups/backup-events.ts'
import { readControllerId } from '../store/election/controller-id.ts'
import { KeyFileError, loadKeyFile } from '../store/files/key-file.ts'
import { createSealer } from '../store/sealer.ts'

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

/** Says on stdout whether the event log of a data folder is as it was written. Ends with exit code 1 when it is not. @throws KeyFileError without the key of the folder */
export async function checkLog(dataFolder: string, database: string | undefined): Promise<void> {
  const verdict = await verdictOn(dataFolder, database)
  process.stdout.write(`${verdictText(verdict)}\n`)
  if (!verdict.ok) process.exitCode = 1
}

async function verdictOn(dataFolder: string, database: string | undefined): Promise<LogVerdict> {
  const keyFile = join(dataFolder, 'seal.key')
  // Looking makes nothing: neither a folder nor a key.
  if (!existsSync(keyFile)) {
    const where = 'A folder of the desktop app, whose key is in the keychain, is checked by the button in its console.'
    throw new KeyFileError(
      `${keyFile} is missing: without it nobody can tell whether the event log was changed. ${where}`,
    )
  }
  const sealer = createSealer(await loadKeyFile(keyFile))
  const reached = await reachedIn(dataFolder, database)
  return await verifyLog(join(dataFolder, eventsFolder), sealer, { reached })
}

/** Number that the log has reached at least, as the store of the site knows; 0 where that cannot be read. */
async function reachedIn(dataFolder: string, database: string | undefined): Promise<number> {
  const controller = database === undefined ? '' : ((await readControllerId(dataFolder)) ?? '')
  try {
    const { last_uses: uses } = await readSite(dataFolder, database)
    return uses.get(boundKey(controller))?.seq ?? 0
  } catch (error) {
    if (!(error instanceof UnreadableSiteError)) throw error
    process.stderr.write(`${error.message} Whether the log was longer is not checked.\n`)
    return 0
  }
}

function verdictText({
  ok,
  entries,
  oldest,
  newest,
  unsealed,
  fault,
  first_bad,
  file,
  milliseconds,
}: LogVerdict): string {
  if (ok || fault === null) {
    const range = entries === 0 ? '' : `, from ${oldest} to ${newest}`
    const end =
      unsealed === 0
        ? ''
        : ` The last ${unsealed} were written after the seal, as a crash or a running controller leaves them.`
    return `The event log is whole: ${entries} entries${range}, in ${milliseconds} ms.${end}`
  }
  const where = file === '' ? '' : ` (${file})`
  return `The event log is not as it was written: first bad entry ${first_bad}${where}: ${faults[fault]}.`
}
