import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { insideOf } from '../../../shared/files/own-path.ts'
import { hasCode } from '../../../shared/error-code.ts'
import { copyDurably, linkOrCopy, listFolder, syncFolder } from '../files/durable-files.ts'

/** Sub-folder of the data folder that holds the event log. */
export const eventsFolder = 'events'
/** Seals from where to where the log goes. */
export const headName = 'head.json'

/**
 * Puts the event log into a backup as it is now. Files of it that are full never change again and share their bytes with the backup, so that an hour's backup costs no more than the newest one.
 * The head goes first: what is written meanwhile stands behind what it covers.
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

/** The oldest files go when their time comes. */
async function unlessGone(copy: () => Promise<void>): Promise<void> {
  try {
    await copy()
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
  }
}
