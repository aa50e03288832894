import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { insideOf } from '../../../shared/files/own-path.ts'
import { hasCode } from '../../../shared/error-code.ts'
import { copyDurably, linkOrCopy, listFolder, syncFolder } from '../files/durable-files.ts'

/** Sub-folder of the data folder that holds the event log. */
export const eventsFolder = 'events'
/** File with the seal of the event log: the first and last position of the sealed entries. */
export const headName = 'head.json'

/**
 * Adds the event log to a backup. Full files never change again, so the backup links to them: an hourly backup costs no
 * more than the newest file.
 * The seal is copied first, so that it never includes entries that the copied files lack.
 */
export async function backUpEvents(folder: string, backup: string): Promise<void> {
  const [from, to] = [join(folder, eventsFolder), join(backup, eventsFolder)]
  const segments = (await listFolder(from)).filter((name) => name.endsWith('.ndjson')).sort()
  const newest = segments.pop()
  if (newest === undefined) return
  await mkdir(to, { mode: 0o700 })
  await unlessGone(() => copyDurably(join(from, headName), join(to, headName)))
  for (const name of segments) await unlessGone(() => linkOrCopy(insideOf(from, name), insideOf(to, name)))
  await unlessGone(() => copyDurably(insideOf(from, newest), insideOf(to, newest)))
  await syncFolder(to)
}

/** Runs a copy, and ignores a file that was deleted meanwhile: the oldest files of the log expire. */
async function unlessGone(copy: () => Promise<void>): Promise<void> {
  try {
    await copy()
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
  }
}
