import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { LogFault, LogVerdict } from '../shared/console/events.ts'
import { verifyLog } from './event-log/verify.ts'
import { eventsFolder } from './store/files/backup-events.ts'
import { createSealer, KeyFileError, loadKeyFile } from './store/sealer.ts'

const faults: Readonly<Record<LogFault, string>> = {
  headMissing: 'its seal (head.json) was taken away: from this entry on it goes on without one',
  headForged: 'its seal (head.json) was changed, or created with another key',
  segmentMissing: 'a file of it is missing',
  changed: 'the entry was changed',
  missing: 'an entry was removed before it',
  cutOff: 'its end was cut off',
  unreadable: 'a file of it cannot be read',
}

/** Says on stdout whether the event log of a data folder is as it was written. Ends with exit code 1 when it is not. @throws KeyFileError without the key of the folder */
export async function checkLog(dataFolder: string): Promise<void> {
  const verdict = await verdictOn(dataFolder)
  process.stdout.write(`${verdictText(verdict)}\n`)
  if (!verdict.ok) process.exitCode = 1
}

async function verdictOn(dataFolder: string): Promise<LogVerdict> {
  const keyFile = join(dataFolder, 'seal.key')
  // Looking makes nothing: neither a folder nor a key.
  if (!existsSync(keyFile)) {
    const where = 'A folder of the desktop app, whose key is in the keychain, is checked by the button in its console.'
    throw new KeyFileError(
      `${keyFile} is missing: without it nobody can tell whether the event log was changed. ${where}`,
    )
  }
  return await verifyLog(join(dataFolder, eventsFolder), createSealer(await loadKeyFile(keyFile)))
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
