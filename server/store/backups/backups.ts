import { belowOf, insideOf } from '../../../shared/files/own-path.ts'
import type { Settings } from '../../../shared/settings.ts'
import { mkdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { backupsFolder } from '../files/documents.ts'
import { backUpEvents, eventsFolder } from './backup-events.ts'
import { fileTime, listFolder, makeFolder, syncFolder } from '../files/durable-files.ts'
import { renameFile } from '../system/rename-file.ts'
import type { Sealer } from '../sealer.ts'
import type { StoreBackup } from '../store.ts'
import { proofOf, proveBackup } from './backup-proof.ts'
import type { BackupProof } from '../../../shared/domain/backups.ts'

/** File that marks a kept backup: only the operator deletes a kept backup. */
export const keptMark = 'kept'
/** File that marks an uploaded backup. An uploaded backup may be of any age, so only the operator restores it. */
export const uploadedMark = 'uploaded'
/** Marks that actions of the operator add to a backup. */
export const backupMarks: readonly string[] = [keptMark, uploadedMark]
/** Maximum number of kept backups, so that the disk does not fill up by mistake. */
export const maxKept = 50

/** Number and age limits of automatic backups. The newest backup always stays. */
export type BackupRetention = Readonly<Settings['backups']>

const namePattern = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)-(\d{3})Z-(\d{6,15})$/

/**
 * Parses the name of a backup; undefined for any other name. Backups sort by sequence number, so changes of the system
 * clock do not matter.
 */
export function parseBackupName(name: string): { sequence: number; at: number } | undefined {
  const match = namePattern.exec(name)
  if (match === null) return undefined
  const [, day, hours, minutes, seconds, milliseconds, sequence] = match
  return { sequence: Number(sequence), at: Date.parse(`${day}T${hours}:${minutes}:${seconds}.${milliseconds}Z`) }
}

/** Returns the backups of a data folder, the newest first. */
export async function listBackups(folder: string): Promise<StoreBackup[]> {
  const backups: (StoreBackup & { sequence: number })[] = []
  for (const name of await listFolder(join(folder, backupsFolder))) {
    const parsed = parseBackupName(name)
    if (parsed === undefined) continue
    let bytes = 0
    const events = (await listFolder(insideOf(folder, backupsFolder, name, eventsFolder))).map(
      (file) => `${eventsFolder}/${file}`,
    )
    const there = await listFolder(insideOf(folder, backupsFolder, name))
    const files = there.filter((file) => file !== eventsFolder)
    for (const file of [...files, ...events]) {
      bytes += (await stat(belowOf(insideOf(folder, backupsFolder, name), file))).size
    }
    backups.push({
      name,
      at: parsed.at,
      bytes,
      kept: there.includes(keptMark),
      uploaded: there.includes(uploadedMark),
      sequence: parsed.sequence,
    })
  }
  backups.sort((a, b) => b.sequence - a.sequence)
  return backups.map(({ name, at, bytes, kept, uploaded }) => ({ name, at, bytes, kept, uploaded }))
}

/** Sorts backups by name from the newest to the oldest. */
export function newestBackupsFirst(backups: readonly StoreBackup[]): StoreBackup[] {
  const sequence = ({ name }: StoreBackup): number => parseBackupName(name)?.sequence ?? 0
  return [...backups].sort((one, other) => sequence(other) - sequence(one) || other.at - one.at)
}

/**
 * Makes a new backup, and deletes automatic backups beyond the retention. Full files of the event log are linked.
 * @param options.documents writes the files of the state into the backup's folder
 * @param options.kept true: only the operator deletes the backup
 * @param options.retention limits of automatic backups
 * @param options.before existing backups, the newest first; left out: the backups of the folder
 * @param options.events whether the backup includes the event log; left out: true
 */
export async function makeBackup(
  folder: string,
  now: number,
  options: {
    documents: (into: string) => Promise<void>
    sealer: Pick<Sealer, 'proof'>
    kept?: boolean
    retention: BackupRetention
    before?: readonly StoreBackup[]
    events?: boolean
  },
): Promise<StoreBackup> {
  const { documents, sealer, kept = false, retention, events = true } = options
  const all = join(folder, backupsFolder)
  await makeFolder(all)
  const sequence = nextSequence(options.before ?? (await listBackups(folder)))
  const name = `${fileTime(now)}-${sequence}`
  const making = insideOf(all, `.making-${sequence}`)
  await rm(making, { recursive: true, force: true })
  await mkdir(making, { mode: 0o700 })
  try {
    await documents(making)
    if (events) await backUpEvents(folder, making)
    await proveBackup(making, parseBackupName(name)?.at ?? now, sealer, backupMarks)
    if (kept) await writeFile(join(making, keptMark), '', { mode: 0o600 })
    await syncFolder(making)
    await renameFile(making, insideOf(all, name))
  } catch (error) {
    // The first error is the one to report.
    await rm(making, { recursive: true, force: true }).catch(() => undefined)
    throw error
  }
  await syncFolder(all)
  await letGo(folder, now, retention)
  const made = (await listBackups(folder)).find((backup) => backup.name === name)
  if (made === undefined) throw new Error(`The backup ${name} does not exist.`)
  return made
}

/** Returns the sequence number for the name of the next backup. */
export function nextSequence(before: readonly StoreBackup[]): string {
  return String((parseBackupName(before[0]?.name ?? '')?.sequence ?? 0) + 1).padStart(6, '0')
}

/** Deletes automatic backups above the number or beyond the age, except the newest. */
async function letGo(folder: string, now: number, retention: BackupRetention): Promise<void> {
  for (const name of expiredBackups(await listBackups(folder), now, retention))
    await rm(insideOf(folder, backupsFolder, name), { recursive: true, force: true })
}

/**
 * Returns the names of the automatic backups above the number or beyond the age; never the newest.
 * @param backups the newest first
 */
export function expiredBackups(
  backups: readonly StoreBackup[],
  now: number,
  { count, days }: BackupRetention,
): string[] {
  const others = backups.filter(({ kept }) => !kept)
  return others.flatMap(({ name, at }, index) => {
    const isOld = days > 0 && now - at > days * 86_400_000
    return index > 0 && (index >= count || isOld) ? [name] : []
  })
}

/**
 * Sets or removes the mark that keeps a backup until the operator deletes it.
 * @throws ENOENT when no backup has this name
 */
export async function keepBackup(folder: string, name: string, kept: boolean): Promise<void> {
  const path = await folderOf(folder, name)
  if (kept) await writeFile(join(path, keptMark), '', { mode: 0o600 })
  else await rm(join(path, keptMark), { force: true })
  await syncFolder(path)
}

/** Deletes a backup. @throws ENOENT when no backup has this name */
export async function deleteBackup(folder: string, name: string): Promise<void> {
  const path = await folderOf(folder, name)
  // Renames the folder first, so that a partly deleted backup is never listed.
  const going = insideOf(folder, backupsFolder, `.deleting-${name}`)
  await renameFile(path, going)
  await rm(going, { recursive: true, force: true })
  await syncFolder(join(folder, backupsFolder))
}

/**
 * Checks that this site made a backup, and that the backup is unchanged.
 * @param contents true: reads every file
 * @throws ENOENT when no backup has this name
 */
export async function proofOfBackup(
  folder: string,
  name: string,
  sealer: Pick<Sealer, 'proof'>,
  contents: boolean,
): Promise<BackupProof> {
  return await proofOf(await folderOf(folder, name), parseBackupName(name)?.at ?? 0, sealer, backupMarks, contents)
}

async function folderOf(folder: string, name: string): Promise<string> {
  if (parseBackupName(name) === undefined)
    throw Object.assign(new Error(`There is no backup ${name}.`), { code: 'ENOENT' })
  const path = insideOf(folder, backupsFolder, name)
  await stat(path)
  return path
}
