import { chmod, readdir, stat } from 'node:fs/promises'
import { insideOf, isPathPart } from '../../../shared/files/own-path.ts'
import type { StoreNotice } from '../store.ts'
import { eventsFolder } from '../backups/backup-events.ts'
import { backupsFolder } from '../backups/backup-folder.ts'
import { documentNames, documentFileName } from './documents.ts'

/** Permission bits of the group and others. */
const others = 0o077
/** Sticky bit: only owners may remove their files, so the folder is shared on purpose, like /tmp. */
const sticky = 0o1000
/** Sub-folders that belong to Roomdesk with all their content; `tls` contains the keys of self-signed certificates. */
const ourFolders: ReadonlySet<string> = new Set([backupsFolder, eventsFolder, 'tls'])

/**
 * Restricts the data folder and Roomdesk's files in it to their owner: 0700, files 0600.
 * Leaves the mode of the folder unchanged if the folder has another owner, is shared like /tmp, or contains foreign
 * files but no site.
 * Does nothing on Windows, where a folder inherits the rights of its parent.
 * @param now milliseconds since the epoch
 * @returns a notice for the operator; undefined: nothing to report
 */
export async function closeToOthers(folder: string, now: number): Promise<StoreNotice | undefined> {
  if (process.platform === 'win32') return undefined
  const { mode, uid } = await stat(folder)
  await narrowFiles(folder)
  if ((mode & others) === 0) return undefined
  const was = (mode & 0o777).toString(8).padStart(4, '0')
  const names = await readdir(folder)
  const occupied = names.some((name) => !isOurs(name)) && !names.includes(documentFileName('site'))
  if (uid === process.getuid?.() && (mode & sticky) === 0 && !occupied) {
    try {
      await chmod(folder, 0o700)
      if (((await stat(folder)).mode & others) === 0) {
        const message = `The data folder was open to others (${was}): it is now its owner's alone (0700).`
        return { level: 'info', at: now, code: 'folderClosed', message }
      }
    } catch {
      // Reported below.
    }
  }
  const message = `Others may look into the data folder ${folder} (${was}), and it cannot be closed to them: give Roomdesk a folder of its own (0700).`
  return { level: 'warning', at: now, code: 'folderOpen', message }
}

function isOurs(name: string): boolean {
  return (
    ourFolders.has(name) ||
    documentNames.some((document) => name.startsWith(`${document}.`)) ||
    /^(journal-\d+\.ndjson|high-water\.mark|losses\.json|figures\.ring|roomdesk\.lock|moved-|(seal|console)\.key)/.test(
      name,
    )
  )
}

/** Restricts files that an earlier version, or a copy, left open to others. A failure must not prevent the start. */
async function narrowFiles(folder: string, all = false): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (!isPathPart(entry.name)) continue
    const path = insideOf(folder, entry.name)
    if (entry.isDirectory() && (all || ourFolders.has(entry.name))) {
      await narrow(path, 0o700)
      await narrowFiles(path, true)
    } else if (entry.isFile() && (all || isOurs(entry.name))) await narrow(path, 0o600)
  }
}

async function narrow(path: string, mode: number): Promise<void> {
  try {
    if (((await stat(path)).mode & others) !== 0) await chmod(path, mode)
  } catch {
    // The file has another owner, or was deleted meanwhile.
  }
}
