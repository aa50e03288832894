import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { backUpEvents, eventsFolder } from './backup-events.ts'
import { documentNames, fileName } from './documents.ts'
import { copyDurably, fileTime, hasCode, listFolder, syncFolder } from './durable-files.ts'
import { segmentName, segmentNumber } from '../journal/journal-line.ts'
import type { StoreBackup } from '../store.ts'

/** Sub-folder of the data folder; each backup is a folder in it that holds whole files. */
export const backupsFolder = 'backups'
/** How many are kept. */
export const keptBackups = 5

const namePattern = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)-(\d{3})Z-(\d{6,15})$/

/** What a backup's name says; undefined when it is no such name. Backups are in the order of their sequence numbers: a clock that jumps does no harm. */
export function parseBackupName(name: string): { sequence: number; at: number } | undefined {
  const match = namePattern.exec(name)
  if (match === null) return undefined
  const [, day, hours, minutes, seconds, milliseconds, sequence] = match
  return { sequence: Number(sequence), at: Date.parse(`${day}T${hours}:${minutes}:${seconds}.${milliseconds}Z`) }
}

/** The backups of a data folder, the newest first. */
export async function listBackups(folder: string): Promise<StoreBackup[]> {
  const backups: (StoreBackup & { sequence: number })[] = []
  for (const name of await listFolder(join(folder, backupsFolder))) {
    const parsed = parseBackupName(name)
    if (parsed === undefined) continue
    let bytes = 0
    const events = (await listFolder(join(folder, backupsFolder, name, eventsFolder))).map((file) =>
      join(eventsFolder, file),
    )
    const files = (await listFolder(join(folder, backupsFolder, name))).filter((file) => file !== eventsFolder)
    for (const file of [...files, ...events]) {
      bytes += (await stat(join(folder, backupsFolder, name, file))).size
    }
    backups.push({ name, at: parsed.at, bytes, sequence: parsed.sequence })
  }
  backups.sort((a, b) => b.sequence - a.sequence)
  return backups.map(({ name, at, bytes }) => ({ name, at, bytes }))
}

/**
 * Copies lowdb's files as they are now into a new backup, and lets go of the oldest beyond five.
 * Copies, not links: what damages a file in place must not damage its backup. The event log, which proves itself, is linked as far as it is full.
 * @param withJournal also the journal: for files that are not up to date.
 */
export async function makeBackup(folder: string, now: number, withJournal = false): Promise<StoreBackup> {
  const all = join(folder, backupsFolder)
  await mkdir(all, { recursive: true, mode: 0o700 })
  const before = await listBackups(folder)
  const sequence = (parseBackupName(before[0]?.name ?? '')?.sequence ?? 0) + 1
  const name = `${fileTime(now)}-${String(sequence).padStart(6, '0')}`
  const making = join(all, `.making-${sequence}`)
  await rm(making, { recursive: true, force: true })
  await mkdir(making, { mode: 0o700 })
  try {
    const files = documentNames.map(fileName)
    if (withJournal) {
      const segments = (await listFolder(folder)).map(segmentNumber).filter((number) => number !== undefined)
      files.push(...segments.map(segmentName))
    }
    for (const file of files) {
      try {
        await copyDurably(join(folder, file), join(making, file))
      } catch (error) {
        if (!hasCode(error, 'ENOENT')) throw error
      }
    }
    await backUpEvents(folder, making)
    await syncFolder(making)
    await rename(making, join(all, name))
  } catch (error) {
    await rm(making, { recursive: true, force: true }).catch(() => undefined)
    throw error
  }
  await syncFolder(all)
  for (const old of before.slice(keptBackups - 1)) await rm(join(all, old.name), { recursive: true, force: true })
  const made = (await listBackups(folder)).find((backup) => backup.name === name)
  if (made === undefined) throw new Error(`The backup ${name} is not there.`)
  return made
}
