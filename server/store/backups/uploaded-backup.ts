import { type FileHandle, mkdir, open, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Header } from 'tar/header'
import { belowOf, insideOf } from '../../../shared/files/own-path.ts'
import { hasCode } from '../../../shared/error-code.ts'
import { ApiError } from '../../../shared/result-codes.ts'
import { type Refusal, refusal } from '../../../shared/refusals/refusal.ts'
import type { Migrations } from '../migrations.ts'
import { sealedPlaceOf } from '../sealed-places.ts'
import type { Sealer } from '../sealer.ts'
import type { StoreBackup } from '../store.ts'
import { backupsFolder } from './backup-folder.ts'
import { keptMark, listBackups, nextSequence, parseBackupName, uploadedMark } from './backups.ts'
import { fileTime, listFolder, makeFolder, syncFolder } from '../files/durable-files.ts'
import { renameFile } from '../system/rename-file.ts'
import { readFolder } from '../files/recovery.ts'

/** Size of a tar block, and maximum size of an archive, in bytes. */
const block = 512
const maxArchive = 2 ** 31
/** Paths of the files in a backup. */
const known =
  /^(?:(?:site|rooms|sessions|proof)\.json|journal-\d{6}\.ndjson|events\/(?:events-\d{12}\.ndjson|head\.json))$/

const refused = (why: Refusal): ApiError => new ApiError('parameter', { field: 'upload', refusal: why })
const notBackup = (): ApiError => refused(refusal('notBackup'))
const fileOf = (folder: string, upload: string): string => insideOf(folder, backupsFolder, `.uploading-${upload}`)

/**
 * Appends a part to an uploaded archive. The first part of an upload deletes leftover files of earlier uploads.
 * @param upload name of the upload: letters and digits
 * @throws ApiError 'parameter' when the part does not follow the previous part, or the archive is too large
 */
export async function takePart(folder: string, upload: string, offset: number, part: Buffer): Promise<void> {
  const all = join(folder, backupsFolder)
  await makeFolder(all)
  if (offset === 0) {
    const left = (await listFolder(all)).filter((name) => name.startsWith('.uploading-'))
    for (const name of left) await rm(insideOf(all, name), { recursive: true, force: true })
  }
  const path = fileOf(folder, upload)
  const size = offset === 0 ? 0 : await sizeOf(path)
  if (size !== offset) throw refused(refusal('uploadBroken'))
  if (offset + part.length > maxArchive) throw refused(refusal('uploadTooLarge'))
  await writeFile(path, part, { flag: offset === 0 ? 'w' : 'a', mode: 0o600 })
}

/**
 * Adds an uploaded archive to the backups as a kept backup. Restores nothing; recovery never uses an uploaded backup.
 * @throws ApiError 'parameter' when the archive is not a backup, is damaged, or was made with another key
 */
export async function addUploaded(
  folder: string,
  upload: string,
  { migrations, sealer }: { migrations: Migrations; sealer: Pick<Sealer, 'unseal'> },
): Promise<StoreBackup> {
  const all = join(folder, backupsFolder)
  const making = join(all, '.making-uploaded')
  await rm(making, { recursive: true, force: true })
  try {
    const at = await unpack(fileOf(folder, upload), making)
    const { state } = await readFolder(making, migrations).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : 'it cannot be read'
      throw refused(refusal('backupDamaged', { reason }))
    })
    for (const [key, { secret_key_sealed }] of state.credentials) {
      try {
        sealer.unseal(secret_key_sealed, sealedPlaceOf('credentials', key))
      } catch {
        throw refused(refusal('backupOfOtherSite'))
      }
    }
    for (const mark of [keptMark, uploadedMark]) await writeFile(insideOf(making, mark), '', { mode: 0o600 })
    await syncFolder(making)
    const name = `${fileTime(at)}-${nextSequence(await listBackups(folder))}`
    await renameFile(making, insideOf(all, name))
    await syncFolder(all)
    const added = (await listBackups(folder)).find((backup) => backup.name === name)
    if (added === undefined) throw new Error(`The backup ${name} does not exist.`)
    return added
  } finally {
    // The result of the upload is final, so a failed cleanup does not matter.
    await rm(making, { recursive: true, force: true }).catch(() => undefined)
    // See above.
    await rm(fileOf(folder, upload), { force: true }).catch(() => undefined)
  }
}

/**
 * Adds a backup that was read from the database to the data folder.
 * @param archive path of the backup as a tar file; deleted afterwards
 * @throws ApiError 'parameter' when the archive is not a backup, or is damaged
 */
export async function placeBackup(
  folder: string,
  name: string,
  archive: string,
  marks: readonly string[],
): Promise<void> {
  const all = join(folder, backupsFolder)
  const making = insideOf(all, `.making-${name}`)
  await rm(making, { recursive: true, force: true })
  try {
    await unpack(archive, making)
    for (const mark of marks) await writeFile(insideOf(making, mark), '', { mode: 0o600 })
    await syncFolder(making)
    await renameFile(making, insideOf(all, name))
    await syncFolder(all)
  } finally {
    // The result is final, so a failed cleanup does not matter.
    await rm(making, { recursive: true, force: true }).catch(() => undefined)
    // See above.
    await rm(archive, { force: true }).catch(() => undefined)
  }
}

/** Extracts an archive into a folder. Returns the time of the backup, in milliseconds since the epoch. */
async function unpack(archive: string, into: string): Promise<number> {
  const size = await sizeOf(archive)
  const file = await open(archive).catch((error: unknown) => {
    throw hasCode(error, 'ENOENT') ? refused(refusal('uploadNotFound')) : error
  })
  try {
    const seen = new Set<string>()
    let at: number | undefined
    for (let position = 0; position + block <= size; ) {
      const header = await readBytes(file, position, block)
      if (header.every((byte) => byte === 0)) break
      const entry = entryOf(header)
      const [backup = '', ...rest] = entry.path.split('/')
      const path = rest.join('/')
      at ??= parseBackupName(backup)?.at
      if (at === undefined || !known.test(path) || seen.has(path)) throw notBackup()
      seen.add(path)
      position += block
      if (position + entry.size > size) throw refused(refusal('uploadCut'))
      await extract(file, position, entry.size, belowOf(into, path))
      position += Math.ceil(entry.size / block) * block
    }
    if (at === undefined || !seen.has('site.json')) throw notBackup()
    return at
  } finally {
    await file.close()
  }
}

function entryOf(block: Buffer): { path: string; size: number } {
  const { type, cksumValid, path, size } = headerOf(block)
  if (type !== 'File' || !cksumValid || path === undefined || size === undefined) throw notBackup()
  return { path, size }
}

function headerOf(block: Buffer): Header {
  try {
    return new Header(block)
  } catch {
    // The header has a base-256 number that is out of range.
    throw notBackup()
  }
}

async function extract(from: FileHandle, position: number, size: number, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const to = await open(path, 'wx', 0o600)
  try {
    for (let done = 0; done < size; ) {
      const bytes = await readBytes(from, position + done, Math.min(1024 * 1024, size - done))
      await to.write(bytes)
      done += bytes.length
    }
    await to.sync()
  } finally {
    await to.close()
  }
}

async function readBytes(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length)
  const { bytesRead } = await file.read(bytes, 0, length, position)
  if (bytesRead < length) throw refused(refusal('uploadCut'))
  return bytes
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return 0
    throw error
  }
}
