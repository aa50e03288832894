import { randomBytes, timingSafeEqual } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { StoredRecording, StoredRecordingFile } from '../../store/records.ts'
import { placeOf } from '../../store/sealed-places.ts'
import type { Store } from '../../store/store.ts'

/** Folder of the files of recordings below the recordings folder; `~` is in no id's folder name. */
const filesFolder = '~files'
/** Path of a file's address on the media port. */
export const recordPath = '/record/'
const nameForm = /^([0-9]{1,20})-([\w-]{32})(?:-([0-9]{1,4}))?\.(mp4|webm)$/

/** Makes the random part of the addresses of a recording: 192 bits. */
export function newFileToken(): string {
  return randomBytes(24).toString('base64url')
}

/** Complete files of recordings: their places on the disk, and the addresses at which whoever has one downloads them. */
export class RecordFiles {
  readonly #folder: string
  readonly #store: Pick<Store, 'get' | 'unseal'>

  /** @param folder recordings folder */
  constructor(folder: string, store: Pick<Store, 'get' | 'unseal'>) {
    this.#folder = join(folder, filesFolder)
    this.#store = store
  }

  /** Path of a file, whose folder exists afterwards. @throws what the file system says */
  async place(file: string): Promise<string> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    return this.path(file)
  }

  path(file: string): string {
    return join(this.#folder, file)
  }

  /** Path of the address of a file, without the site's own address. @throws ApiError internal as Store.unseal does */
  address(recording: StoredRecording, index: number): string {
    const container = recording.files[index]?.container ?? recording.container ?? 'mp4'
    const suffix = index === 0 ? '' : `-${index}`
    return `${recordPath}${recording.id}-${this.#token(recording)}${suffix}.${container}`
  }

  /** File at an address; undefined for every address that names none. @param name last part of its path */
  find(name: string): { recording: StoredRecording; file: StoredRecordingFile; path: string } | undefined {
    const [, id = '', token = '', index = '0'] = nameForm.exec(name) ?? []
    const recording = this.#store.get('recordings', id)
    if (recording === undefined) return undefined
    const wanted = Buffer.from(this.#token(recording))
    const given = Buffer.from(token)
    const file = recording.files[Number(index)]
    if (file === undefined || given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined
    return { recording, file, path: this.path(file.file) }
  }

  /** Deletes files; those that are gone do not matter. @throws what the file system says otherwise */
  async remove(files: readonly Pick<StoredRecordingFile, 'file'>[]): Promise<void> {
    for (const { file } of files) await rm(this.path(file), { force: true })
  }

  #token({ id, token_sealed }: StoredRecording): string {
    return this.#store.unseal(token_sealed, placeOf('recordings', id))
  }
}
