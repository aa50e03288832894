import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { insideOf } from '../../../shared/files/own-path.ts'
import { hasCode } from '../../../shared/error-code.ts'
import { listFolder } from './durable-files.ts'
import { backupsFolder } from '../backups/backup-folder.ts'
import { prefixes, sealedPrefix } from '../sealer.ts'

/**
 * Whether the files of a data folder, or its backups, contain a sealed secret. Stops reading at the first sealed
 * secret.
 * @param folder need not exist
 */
export async function holdsSealedSecrets(folder: string): Promise<boolean> {
  const backups = join(folder, backupsFolder)
  const folders = [folder, ...(await namesIn(backups)).map((name) => insideOf(backups, name))]
  for (const each of folders) {
    for (const name of await namesIn(each)) {
      if (/\.(json|ndjson)(\.|$)/.test(name) && (await holds(insideOf(each, name)))) return true
    }
  }
  return false
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await listFolder(folder)
  } catch (error) {
    if (hasCode(error, 'ENOTDIR')) return []
    throw error
  }
}

async function holds(path: string): Promise<boolean> {
  let before = ''
  try {
    for await (const chunk of createReadStream(path, { encoding: 'latin1' })) {
      const text = before + String(chunk)
      if (prefixes.some((prefix) => text.includes(prefix))) return true
      before = text.slice(1 - sealedPrefix.length)
    }
  } catch (error) {
    // The path is a folder: opening the store reports the error.
    if (!hasCode(error, 'EISDIR', 'ENOENT')) throw error
  }
  return false
}
