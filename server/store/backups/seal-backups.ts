import { readFile } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { insideOf } from '../../../shared/files/own-path.ts'
import { hasCode } from '../../../shared/error-code.ts'
import type { Sealer } from '../sealer.ts'
import { withoutClearSecrets } from '../site-settings.ts'
import { proveBackup } from './backup-proof.ts'
import { backupsFolder } from './backup-folder.ts'
import { backupMarks, listBackups, proofOfBackup } from './backups.ts'
import { checksum } from '../files/document-reader.ts'
import { documentFileName } from '../files/documents.ts'
import { replaceDurably } from '../files/durable-files.ts'

/**
 * Seals secrets that an earlier version stored in clear text in the backups. Changes nothing else; leaves a damaged
 * backup unchanged.
 */
export async function sealBackups(folder: string, sealer: Pick<Sealer, 'seal' | 'proof'>): Promise<void> {
  for (const { name, at } of await listBackups(folder)) {
    const path = insideOf(folder, backupsFolder, name, documentFileName('site'))
    let text: string
    try {
      text = await readFile(path, 'utf8')
    } catch (error) {
      if (hasCode(error, 'ENOENT')) continue
      throw error
    }
    const after = sealedDocument(text, sealer)
    if (after === undefined) continue
    const proof = await proofOfBackup(folder, name, sealer, true)
    await replaceDurably(path, after)
    // Writes a new proof only if the old proof was valid: all other backups stay unproven.
    if (proof === 'good') await proveBackup(insideOf(folder, backupsFolder, name), at, sealer, backupMarks)
  }
}

/**
 * Returns a document file with its settings sealed; undefined: nothing to seal, or the file is damaged. The file has
 * one record per line, and ends with a checksum of all previous lines.
 */
function sealedDocument(text: string, sealer: Pick<Sealer, 'seal'>): string | undefined {
  const [, body = '', sum] = /^(.*\n)"checksum":"([0-9a-f]{8})"\}\n?$/s.exec(text) ?? []
  if (checksum(crc32(body)) !== sum) return undefined
  const lines = body.split('\n')
  const at = lines.indexOf('"settings":[') + 1
  const line = lines[at] ?? ''
  if (at === 0 || !line.startsWith('[')) return undefined
  const comma = line.endsWith(',') ? ',' : ''
  const [key, settings] = JSON.parse(comma === '' ? line : line.slice(0, -1)) as [string, unknown]
  const sealed = withoutClearSecrets(settings, sealer)
  if (sealed === undefined) return undefined
  lines[at] = `${JSON.stringify([key, sealed])}${comma}`
  const changed = lines.join('\n')
  return `${changed}"checksum":"${checksum(crc32(changed))}"}\n`
}
