import { open, readFile, rm, stat } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { Low } from 'lowdb'
import { hasCode } from '../../../shared/error-code.ts'
import { insideOf } from '../../../shared/files/own-path.ts'
import { completeSettings } from '../../../shared/settings.ts'
import { proveBackup } from '../backups/backup-proof.ts'
import { backupMarks, type BackupRetention, listBackups, makeBackup, proofOfBackup } from '../backups/backups.ts'
import { DurableStore } from '../durable/durable-store.ts'
import { segmentName, segmentNumber } from '../journal/journal-line.ts'
import { migrations as knownMigrations } from '../migrations.ts'
import { Notices } from '../notices.ts'
import { Losses, lossesName } from './losses.ts'
import type { Sealer } from '../sealer.ts'
import { unmarkSealed, withoutClearSecrets } from '../site-settings.ts'
import type { State } from '../state.ts'
import type { StoreOptions } from '../store-options.ts'
import type { Store, StoreBackup } from '../store.ts'
import { wallClock } from '../system/time.ts'
import { closeToOthers, makeDataFolder } from './data-folder.ts'
import { DocumentAdapter, newWriteQueue } from './document-adapter.ts'
import { checksum } from './document-reader.ts'
import {
  backupsFolder,
  documentFileName,
  type DocumentName,
  documentNames,
  type StoredDocument,
  temporaryName,
} from './documents.ts'
import { listFolder, replaceDurably, syncFoldersAbove } from './durable-files.ts'
import { copyFiles, FileStorage } from './file-storage.ts'
import { lockedFileName, lockFileName, lockFolder } from './folder-lock.ts'
import { HighWaterFile, highWaterName } from './journal/high-water.ts'
import { Journal } from './journal/journal.ts'
import { refuseMovedSite } from './moved-site.ts'
import { checkVersions, type Recovered, recoverFolder } from './recovery.ts'
import { notAFile, readingOf, StoreFileError } from './store-file-error.ts'

/**
 * Opens the data folder: locks it, reads lowdb's files and the journal, and repairs damage if possible (see the notices
 * in `status()`).
 * @throws StoreVersionError when a newer Roomdesk wrote the folder (nothing is changed)
 * @throws StoreLockedError when another process uses the folder
 * @throws StoreFileError when a file cannot be read, or errors of the file system
 */
export async function openFiles(options: StoreOptions): Promise<Store> {
  const { folder, clock = wallClock, migrations = knownMigrations } = options
  await makeDataFolder(folder)
  await checkFiles(folder)
  await refuseMovedSite(folder)
  await checkVersions(folder, migrations)
  const unlock = await lockFolder(folder, (error) =>
    options.logger?.warn(
      { err: error },
      'The file system of the data folder gives no locks: other hosts and containers are not kept out of it.',
    ),
  )
  try {
    // Checked again under the lock: the previous owner of the lock may have been a newer version.
    await checkVersions(folder, migrations)
    await removeLeftovers(folder)
    const mode = await closeToOthers(folder, clock())
    const recovered = await recoverFolder(folder, migrations, clock())
    if (mode !== undefined) recovered.notices.push(mode)
    return await openRecovered(options, recovered, unlock)
  } catch (error) {
    await unlock()
    throw error
  }
}

async function openRecovered(options: StoreOptions, recovered: Recovered, unlock: () => Promise<void>): Promise<Store> {
  const { folder, sealer, logger, clock = wallClock, migrations = knownMigrations } = options
  const { state, chain, bases } = recovered
  const notices = new Notices(logger)
  const onError = (error: unknown): void => logger?.error({ err: error }, 'unexpected error in the store')
  for (const notice of recovered.notices) notices.add(notice)
  const losses = await Losses.open(folder, recovered.notices)
  // Stored before anything else: later writes remove the evidence of the loss.
  if (recovered.notices.some(({ lost }) => lost === true)) await losses.keep(logger)
  // Backs up the old files, and the journal that they need, before anything is written in the new version.
  const kept =
    recovered.migratedFrom === undefined ? undefined : await backUpAsItIs(folder, clock(), sealer, retentionOf(state))
  // Recovered files may contain texts that were not resealed. Such texts must be accepted until they are resealed.
  if (recovered.notices.length > 0) unmarkSealed(state)
  const settings = withoutClearSecrets(state.settings.get('site'), sealer)
  if (settings !== undefined) {
    // Seals the backups first: if this is interrupted, the site's own file is not sealed yet, so the next start repeats
    // the sealing.
    await sealBackups(folder, sealer)
    state.settings.set('site', settings)
  }
  const roomNumbers = { last: recovered.roomNumber }
  const queue = newWriteQueue()
  const adapterOf = (name: DocumentName): DocumentAdapter => {
    const read = async (): Promise<StoredDocument> => ({ ...bases[name], room_number: roomNumbers.last, state })
    return new DocumentAdapter({ folder, name, version: migrations.current, queue, read })
  }
  const adapters = { site: adapterOf('site'), rooms: adapterOf('rooms'), sessions: adapterOf('sessions') }
  const openFile = async (name: DocumentName): Promise<Low<StoredDocument>> => {
    const low = new Low<StoredDocument>(adapters[name], { first_segment: 1, written_at: 0, room_number: 0, state })
    await low.read()
    return low
  }
  const files = { site: await openFile('site'), rooms: await openFile('rooms'), sessions: await openFile('sessions') }
  if (recovered.fresh) {
    await syncFoldersAbove(folder)
    for (const name of documentNames) files[name].data.written_at = clock()
    await Promise.all(documentNames.map((name) => files[name].write()))
  }
  const journal = new Journal({
    folder,
    version: migrations.current,
    next: Math.max(chain.last + 1, ...documentNames.map((name) => bases[name].first_segment)),
    previous: chain.numbers.at(-1) ?? 0,
    ends: chain.ends,
    sizes: chain.sizes,
    roomNumber: () => roomNumbers.last,
    highWater: new HighWaterFile(folder),
    clock,
  })
  const storage = new FileStorage({
    folder,
    journal,
    files,
    previous: recovered.previous,
    fileBytes: () => adapters.site.bytes + adapters.rooms.bytes + adapters.sessions.bytes,
    roomNumber: () => roomNumbers.last,
    clock,
  })
  const store = new DurableStore({
    folder,
    state,
    storage,
    snapshotAfterBytes: options.snapshotAfterBytes,
    sealer,
    notices,
    losses,
    clock,
    deadlineMs: options.deadlineMs,
    flushGate: options.flushGate,
    migrations,
    roomNumbers,
    unlock,
    onError,
  })
  if (settings !== undefined) {
    // Two snapshots, because the previous version of the file must not contain the secrets either.
    await store.snapshots.run()
    await store.snapshots.run()
  }
  if (kept !== undefined) {
    await store.snapshots.run()
    const message = `The files were brought from version ${recovered.migratedFrom} to ${migrations.current}; the backup ${kept.name} holds the old ones.`
    notices.add({ level: 'info', at: clock(), code: 'migrated', message })
  } else if (recovered.stale && !recovered.fresh) {
    // Recovered files are rewritten completely; a failure shows in the status.
    store.snapshots.run().catch(() => undefined)
  }
  return store
}

/** Makes a backup that includes the journal, because the files are not up to date. */
async function backUpAsItIs(
  folder: string,
  now: number,
  sealer: Sealer,
  retention: BackupRetention,
): Promise<StoreBackup> {
  const segments = (await listFolder(folder)).map(segmentNumber).filter((number) => number !== undefined)
  const names = [...documentNames.map(documentFileName), ...segments.map(segmentName)]
  return await makeBackup(folder, now, { documents: (into) => copyFiles(folder, into, names), sealer, retention })
}

/** Returns the retention of backups from the state that was just read. */
function retentionOf({ settings }: Pick<State, 'settings'>): BackupRetention {
  return completeSettings(settings.get('site')).backups
}

async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await listFolder(folder)) {
    const leftover =
      documentNames.some((document) => name === temporaryName(document)) || name.endsWith('.previous.json.tmp')
    if (leftover) await rm(insideOf(folder, name), { force: true })
  }
}

/** Rejects a data folder in which a file has a wrong type, or is not readable. Read-only. @throws StoreFileError */
async function checkFiles(folder: string): Promise<void> {
  for (const name of await listFolder(folder)) {
    const path = insideOf(folder, name)
    try {
      if (name === backupsFolder) await checkFolder(path)
      else if (isFileName(name)) await checkFile(path)
    } catch (error) {
      // Another process that still holds the folder may have deleted the file.
      if (!hasCode(error, 'ENOENT')) throw error
    }
  }
}

async function checkFile(path: string): Promise<void> {
  // Checked before opening: opening a pipe would wait for its other end.
  if (!(await readingOf(path, () => stat(path))).isFile()) throw notAFile(path)
  await (await readingOf(path, () => open(path, 'r'))).close()
}

async function checkFolder(path: string): Promise<void> {
  if (!(await readingOf(path, () => stat(path))).isDirectory())
    throw new StoreFileError(`${path} is not a folder: move it away, and start again.`)
  await readingOf(path, () => listFolder(path))
}

function isFileName(name: string): boolean {
  return (
    [highWaterName, lossesName, lockFileName, lockedFileName].includes(name) ||
    segmentNumber(name) !== undefined ||
    documentNames.some((document) => new RegExp(`^${document}(\\.previous)?\\.json(\\.tmp)?$`).test(name))
  )
}

/**
 * Seals secrets that an earlier version stored in clear text in the backups. Changes nothing else; leaves a damaged
 * backup unchanged.
 */
async function sealBackups(folder: string, sealer: Pick<Sealer, 'seal' | 'proof'>): Promise<void> {
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
