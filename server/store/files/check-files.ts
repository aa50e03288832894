import { open, stat } from 'node:fs/promises'
import { insideOf } from '../../../shared/files/own-path.ts'
import { hasCode } from '../../../shared/error-code.ts'
import { highWaterName } from './journal/high-water.ts'
import { segmentNumber } from '../journal/journal-line.ts'
import { backupsFolder } from '../backups/backup-folder.ts'
import { documentNames } from './documents.ts'
import { listFolder } from './durable-files.ts'
import { lockedFileName, lockFileName } from './folder-lock.ts'
import { lossesName } from './losses.ts'
import { notAFile, readingOf, StoreFileError } from './store-file-error.ts'

/**
 * Refuses a data folder in which something else stands in the place of a file, or whose files may not be read. Reads only.
 * @throws StoreFileError
 */
export async function checkFiles(folder: string): Promise<void> {
  for (const name of await listFolder(folder)) {
    const path = insideOf(folder, name)
    try {
      if (name === backupsFolder) await checkFolder(path)
      else if (isFileName(name)) await checkFile(path)
    } catch (error) {
      // A program that holds the folder until now may be at work.
      if (!hasCode(error, 'ENOENT')) throw error
    }
  }
}

async function checkFile(path: string): Promise<void> {
  // Before it is opened: a pipe would wait for its other end.
  if (!(await readingOf(path, () => stat(path))).isFile()) throw notAFile(path)
  await (await readingOf(path, () => open(path, 'r'))).close()
}

async function checkFolder(path: string): Promise<void> {
  if (!(await readingOf(path, () => stat(path))).isDirectory())
    throw new StoreFileError(`${path} is no folder: move it away, and start again.`)
  await readingOf(path, () => listFolder(path))
}

function isFileName(name: string): boolean {
  return (
    [highWaterName, lossesName, lockFileName, lockedFileName].includes(name) ||
    segmentNumber(name) !== undefined ||
    documentNames.some((document) => new RegExp(`^${document}(\\.previous)?\\.json(\\.tmp)?$`).test(name))
  )
}
