import { backupPart } from '../../../../shared/console/backups.ts'
import { saveFile } from '../../../kit/composables/saveFile.ts'
import type { ConsoleClient } from '../../../kit/transport/client.ts'
import { downloadParts } from '../../../kit/transport/download-parts.ts'

/**
 * Saves a backup as a tar archive, loaded in parts over any connection to the controller.
 * @param progress called with the received share, 0 to 1
 * @returns true; rejects if a part fails, and then saves nothing
 */
export async function downloadBackup(
  client: Pick<ConsoleClient, 'call'>,
  name: string,
  progress: (share: number) => void,
): Promise<true> {
  const parts = await downloadParts(
    (offset) => client.call('backups.read', { name, offset, length: backupPart }),
    progress,
  )
  await saveFile(`roomdesk-backup-${name}.tar`, new Blob(parts, { type: 'application/x-tar' }))
  return true
}

/**
 * Uploads an archive in parts, and adds it to the backups.
 * @param progress called with the sent share, 0 to 1
 */
export async function uploadBackup(
  client: Pick<ConsoleClient, 'call'>,
  file: Blob,
  progress: (share: number) => void,
): Promise<void> {
  const upload = crypto.getRandomValues(new Uint32Array(4)).reduce((name, one) => name + one.toString(36), '')
  for (let offset = 0; offset < file.size; offset += backupPart) {
    const bytes = new Uint8Array(await file.slice(offset, offset + backupPart).arrayBuffer())
    let letters = ''
    for (let at = 0; at < bytes.length; at += 8_192) letters += String.fromCharCode(...bytes.subarray(at, at + 8_192))
    await client.call('backups.write', { upload, offset, data: btoa(letters) })
    progress(Math.min(1, (offset + bytes.length) / file.size))
  }
  await client.call('backups.add', { upload })
}
