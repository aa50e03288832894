import { refusal } from '../../../shared/refusals/refusal.ts'
import { ApiError } from '../../../shared/result-codes.ts'
import { addUploaded, readArchive, takePart } from './backup-archive.ts'
import { deleteBackup, keepBackup, listBackups, maxKept, proofOfBackup } from './backups.ts'
import { backupError } from './restore.ts'
import type { Sealer } from '../sealer.ts'
import { storageError } from '../storage.ts'
import type { StoreBackup } from '../store.ts'
import type { BackupProof } from '../../../shared/domain/backups.ts'

export type KeptBackupsOptions = Parameters<typeof addUploaded>[2] & {
  sealer: Pick<Sealer, 'proof'>
  folder: string
  /** Writes a snapshot of the state, and copies the snapshot into a backup. */
  backUp: (kept: boolean) => Promise<StoreBackup>
}

/** Backups of a site. Errors are those of the store's interface (ApiError). */
export type SiteBackups = Pick<
  KeptBackups,
  'list' | 'make' | 'keep' | 'delete' | 'bring' | 'read' | 'proof' | 'takeUpload' | 'addUpload' | 'made' | 'close'
>

/** Backups in the data folder. */
export class KeptBackups {
  readonly #options: KeptBackupsOptions

  constructor(options: KeptBackupsOptions) {
    this.#options = options
  }

  list(): Promise<readonly StoreBackup[]> {
    return listBackups(this.#options.folder)
  }

  async make(kept = false): Promise<StoreBackup> {
    if (kept) await this.#mayKeep()
    try {
      return await this.#options.backUp(kept)
    } catch (error) {
      throw storageError(error)
    }
  }

  async keep(name: string, kept: boolean): Promise<void> {
    if (kept) await this.#mayKeep()
    await keepBackup(this.#options.folder, name, kept).catch((error: unknown) => {
      throw backupError(name, error)
    })
  }

  async delete(name: string): Promise<void> {
    await deleteBackup(this.#options.folder, name).catch((error: unknown) => {
      throw backupError(name, error)
    })
  }

  /** Does nothing: the files of the backup are in the data folder. */
  async bring(_name: string): Promise<void> {}

  /** Does nothing: see SharedBackups. */
  async made(_backup: StoreBackup): Promise<void> {}

  async close(): Promise<void> {}

  async read(name: string, offset: number, length: number): Promise<{ bytes: Buffer; total: number }> {
    return await readArchive(this.#options.folder, name, offset, length).catch((error: unknown) => {
      throw backupError(name, error)
    })
  }

  async proof(name: string, contents: boolean): Promise<BackupProof> {
    return await proofOfBackup(this.#options.folder, name, this.#options.sealer, contents).catch((error: unknown) => {
      throw backupError(name, error)
    })
  }

  async takeUpload(upload: string, offset: number, part: Buffer): Promise<void> {
    if (offset === 0) await this.#mayKeep()
    await takePart(this.#options.folder, upload, offset, part).catch((error: unknown) => {
      throw storageError(error)
    })
  }

  async addUpload(upload: string): Promise<StoreBackup> {
    await this.#mayKeep()
    return await addUploaded(this.#options.folder, upload, this.#options).catch((error: unknown) => {
      throw storageError(error)
    })
  }

  /** Checks that one more backup may be kept. @throws ApiError 'parameter' at the maximum number */
  async #mayKeep(): Promise<void> {
    const kept = (await this.list()).filter((backup) => backup.kept)
    if (kept.length >= maxKept)
      throw new ApiError('parameter', {
        field: 'name',
        refusal: refusal('backupLimit', { limit: maxKept }),
      })
  }
}
