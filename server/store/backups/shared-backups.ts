import { rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { insideOf } from '../../../shared/files/own-path.ts'
import { hasCode } from '../../../shared/error-code.ts'
import { makeFolder } from '../files/durable-files.ts'
import {
  type BackupRow,
  deleteBackupRows,
  insertBackup,
  keepBackupRow,
  readBackupPart,
  readBackupRows,
} from '../postgres/backup-rows.ts'
import { longAnswer, type DatabaseSession } from '../postgres/database-session.ts'
import type { Sealer } from '../sealer.ts'
import { storageError } from '../storage.ts'
import type { StoreBackup } from '../store.ts'
import { startTimer, type Timer } from '../system/time.ts'
import { placeBackup, readArchive } from './backup-archive.ts'
import { backupsFolder } from '../files/documents.ts'
import { judgeProof, proofTextOf } from './backup-proof.ts'
import {
  expiredBackups,
  keptMark,
  listBackups,
  newestBackupsFirst,
  parseBackupName,
  type BackupRetention,
  uploadedMark,
} from './backups.ts'
import type { KeptBackups, SiteBackups } from './kept-backups.ts'
import { backupError } from './restore.ts'
import type { BackupProof } from '../../../shared/domain/backups.ts'

/**
 * Delay of the first comparison of the data folder with the database, and interval between comparisons, in
 * milliseconds.
 */
const firstMs = 5_000
const betweenMs = 10 * 60_000

export interface SharedBackupsOptions {
  folder: string
  kept: KeptBackups
  /** Opens a connection in addition to the store's own. @param answerMs maximum time for an answer, in milliseconds */
  connect: (answerMs: number) => Promise<DatabaseSession>
  sealer: Pick<Sealer, 'proof'>
  retention: () => BackupRetention
  /** Whether the data folder is compared with the database regularly. */
  compares: boolean
  /** Milliseconds since the epoch. */
  clock: () => number
  onError: (error: unknown) => void
}

/**
 * Backups of a site whose state is in a database. The backups are stored in the database, too, so that every leader has
 * them and the failure of a machine loses none. The data folder holds the backups that were made or read on this
 * machine.
 */
export class SharedBackups implements SiteBackups {
  readonly #options: SharedBackupsOptions
  #work: Promise<unknown> = Promise.resolve()
  #timer: Timer | undefined
  #closed = false

  constructor(options: SharedBackupsOptions) {
    this.#options = options
    if (options.compares) this.#later(firstMs)
  }

  /** Returns all backups; while the database is unreachable, only the backups of the data folder. */
  async list(): Promise<readonly StoreBackup[]> {
    const here = await listBackups(this.#options.folder)
    try {
      const { rows, gone } = await this.#with((session) => readBackupRows(session))
      const stored = new Map(rows.map((row) => [row.name, backupOf(row)]))
      for (const backup of here) if (!gone.has(backup.name) && !stored.has(backup.name)) stored.set(backup.name, backup)
      return newestBackupsFirst([...stored.values()])
    } catch {
      // The database is unreachable: only this controller's backups are listed.
      return here
    }
  }

  async make(kept = false): Promise<StoreBackup> {
    return await this.#options.kept.make(kept)
  }

  /** Stores a new backup in the database. If this fails, the next comparison stores the backup. Never rejects. */
  async made({ name }: StoreBackup): Promise<void> {
    await this.#inTurn(async (session) => {
      await this.#store(session, name)
      await this.#letGo(session)
    }).catch((error: unknown) => this.#options.onError(error))
  }

  async keep(name: string, kept: boolean): Promise<void> {
    const stored = await this.#stored(() => this.#inTurn((session) => keepBackupRow(session, name, kept)))
    if (!stored || (await this.#isHere(name))) await this.#options.kept.keep(name, kept)
  }

  async delete(name: string): Promise<void> {
    const deleted = await this.#stored(() => this.#inTurn((session) => deleteBackupRows(session, [name])))
    if (deleted === 0 || (await this.#isHere(name))) await this.#options.kept.delete(name)
  }

  async bring(name: string): Promise<void> {
    if (parseBackupName(name) === undefined || (await this.#isHere(name))) return
    await this.#inTurn((session) => this.#fetch(session, name)).catch((error: unknown) => {
      throw backupError(name, error)
    })
  }

  async read(name: string, offset: number, length: number): Promise<{ bytes: Buffer; total: number }> {
    await this.bring(name)
    return await this.#options.kept.read(name, offset, length)
  }

  async proof(name: string, contents: boolean): Promise<BackupProof> {
    if (contents || (await this.#isHere(name))) {
      await this.bring(name)
      return await this.#options.kept.proof(name, contents)
    }
    const { rows } = await this.#stored(() => this.#with((session) => readBackupRows(session)))
    const row = rows.find((one) => one.name === name)
    if (row === undefined) throw backupError(name, notThere(name))
    return judgeProof(row.proof, parseBackupName(name)?.at ?? 0, this.#options.sealer)
  }

  takeUpload(upload: string, offset: number, part: Buffer): Promise<void> {
    return this.#options.kept.takeUpload(upload, offset, part)
  }

  async addUpload(upload: string): Promise<StoreBackup> {
    const added = await this.#options.kept.addUpload(upload)
    await this.made(added)
    return added
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#timer?.cancel()
    await this.#work
  }

  #later(milliseconds: number): void {
    const compare = (): void => {
      this.#inTurn((session) => this.#compare(session))
        .catch((error: unknown) => this.#options.onError(error))
        .finally(() => {
          if (!this.#closed) this.#later(betweenMs)
        })
    }
    this.#timer = startTimer(milliseconds, compare, false)
  }

  /**
   * Stores backups that only the data folder has, and deletes local copies of backups that were deleted in the
   * database.
   */
  async #compare(session: DatabaseSession): Promise<void> {
    const { folder } = this.#options
    const { rows, gone } = await readBackupRows(session)
    const stored = new Set(rows.map(({ name }) => name))
    for (const { name } of await listBackups(folder)) {
      if (this.#closed) return
      if (gone.has(name)) await rm(insideOf(folder, backupsFolder, name), { recursive: true, force: true })
      else if (!stored.has(name)) await this.#store(session, name)
    }
    await this.#letGo(session)
  }

  async #store(session: DatabaseSession, name: string): Promise<void> {
    const { folder } = this.#options
    const backup = (await listBackups(folder)).find((one) => one.name === name)
    if (backup === undefined) return
    const proof = await proofTextOf(insideOf(folder, backupsFolder, name))
    await insertBackup(session, { ...backup, proof }, async (offset, length) => {
      return (await readArchive(folder, name, offset, length, false)).bytes
    })
  }

  async #letGo(session: DatabaseSession): Promise<void> {
    const { retention, clock } = this.#options
    const { rows } = await readBackupRows(session)
    const expired = expiredBackups(newestBackupsFirst(rows.map(backupOf)), clock(), retention())
    if (expired.length > 0) await deleteBackupRows(session, expired)
  }

  async #fetch(session: DatabaseSession, name: string): Promise<void> {
    const { folder } = this.#options
    const { rows } = await readBackupRows(session)
    const row = rows.find((one) => one.name === name)
    if (row === undefined) throw notThere(name)
    const all = join(folder, backupsFolder)
    await makeFolder(all)
    const archive = insideOf(all, `.fetching-${name}`)
    await rm(archive, { force: true })
    for (let part = 0; ; part++) {
      const content = await readBackupPart(session, name, part)
      if (content === undefined) break
      await writeFile(archive, content, { flag: 'a', mode: 0o600 })
    }
    const marks = [...(row.kept ? [keptMark] : []), ...(row.uploaded ? [uploadedMark] : [])]
    await placeBackup(folder, name, archive, marks)
  }

  async #isHere(name: string): Promise<boolean> {
    if (parseBackupName(name) === undefined) return false
    try {
      await stat(insideOf(this.#options.folder, backupsFolder, name))
      return true
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return false
      throw error
    }
  }

  /** Runs jobs one at a time: two concurrent jobs could store the same backup. */
  #inTurn<T>(job: (session: DatabaseSession) => Promise<T>): Promise<T> {
    const done = this.#work.then(() => this.#with(job))
    // The caller handles the error.
    this.#work = done.catch(() => undefined)
    return done
  }

  async #with<T>(job: (session: DatabaseSession) => Promise<T>): Promise<T> {
    const session = await this.#options.connect(longAnswer)
    try {
      return await job(session)
    } finally {
      await session.close()
    }
  }

  async #stored<T>(job: () => Promise<T>): Promise<T> {
    return await job().catch((error: unknown) => {
      throw storageError(error)
    })
  }
}

function backupOf({ name, bytes, kept, uploaded }: BackupRow): StoreBackup {
  return { name, at: parseBackupName(name)?.at ?? 0, bytes, kept, uploaded }
}

function notThere(name: string): Error {
  return Object.assign(new Error(`There is no backup ${name}.`), { code: 'ENOENT' })
}
