import { type FileHandle, readdir } from 'node:fs/promises'
import { hasCode } from '../../../shared/error-code.ts'
import { insideOf, type OwnPath, PathError } from '../../../shared/files/own-path.ts'
import { makeInside, openInside, removeInside, reserveInside } from '../../../shared/files/real-path.ts'
import type { HeldRequest, HolderPage, HolderPages } from '../../capabilities/holder-pages.ts'
import type { StoredRecording, StoredRecordingFile } from '../../store/records.ts'
import { placeOf } from '../../store/sealed-places.ts'
import type { Store } from '../../store/store.ts'
import { answerFile } from './byte-answer.ts'

/** Folder of the files of recordings below the recordings folder; `~` is in no id's folder name. */
const filesFolder = '~files'
/** Path of a file's address on the media port. */
const recordPath = '/record/'
const nameForm = /^([0-9]{1,20})-([\w-]{32})(?:-([0-9]{1,4}))?\.(mp4|webm)$/

/** Name of a file of a recording, and of what it is made of. */
const fileForm = /^[0-9]{1,20}-[\w.-]{1,100}\.(?:mp4|webm)$/

/** Complete files of recordings: their places on the disk, and the addresses at which whoever has one downloads them. */
export class RecordFiles {
  readonly #recordings: string
  readonly #store: Pick<Store, 'get' | 'unseal'>

  /** @param folder recordings folder; empty where it cannot be used: then it has no files, and none is removed */
  constructor(folder: string, store: Pick<Store, 'get' | 'unseal'>) {
    this.#recordings = folder
    this.#store = store
  }

  /** @throws PathError the recordings folder cannot be used */
  get #folder(): OwnPath {
    return insideOf(this.#recordings, filesFolder)
  }

  /** Makes the folder of the files, where it is missing. @throws PathError; what the file system says */
  async ready(): Promise<void> {
    await makeInside(this.#recordings, this.#folder, 0o700)
  }

  /** Makes an empty file, for a program that opens its output by its path. @throws PathError; what the file system says */
  async reserve(file: string): Promise<OwnPath> {
    await this.ready()
    return await reserveInside(this.#recordings, this.path(file))
  }

  /** @param file its name; that of a stored recording was not necessarily written by this program @throws PathError */
  path(file: string): OwnPath {
    if (!fileForm.test(file)) throw new PathError(`${JSON.stringify(file)} is not the file of a recording.`)
    return insideOf(this.#folder, file)
  }

  /** Path of the address of a file, without the site's own address; empty: its capability has ended. @throws ApiError internal as Store.unseal does */
  address(recording: StoredRecording, index: number): string {
    const { capability } = recording
    if (capability !== undefined && this.#store.get('capabilities', capability) === undefined) return ''
    const container = recording.files[index]?.container ?? recording.container ?? 'mp4'
    const suffix = index === 0 ? '' : `-${index}`
    return `${recordPath}${recording.id}-${this.token(recording)}${suffix}.${container}`
  }

  /** Token in the last part of an address; empty: it has none. */
  tokenIn(name: string): string {
    return nameForm.exec(name)?.[2] ?? ''
  }

  /** File of a request; undefined: its address names none. */
  find({
    capability,
    file: name,
  }: HeldRequest<'recording'>):
    | { recording: StoredRecording; file: StoredRecordingFile; open: () => Promise<FileHandle> }
    | undefined {
    const [, id = '', , index = '0'] = nameForm.exec(name) ?? []
    const recording = this.#store.get('recordings', capability.recording)
    const file = recording?.files[Number(index)]
    if (recording === undefined || file === undefined || recording.id !== id) return undefined
    // A stored name was not necessarily written by this program.
    if (!fileForm.test(file.file)) return undefined
    return { recording, file, open: async () => await openInside(this.#recordings, this.path(file.file)) }
  }

  /** Lists the names of all files. @throws what the file system says */
  async list(): Promise<string[]> {
    try {
      return (await readdir(this.#folder)).filter((name) => fileForm.test(name))
    } catch (error) {
      if (hasCode(error, 'ENOENT') || error instanceof PathError) return []
      throw error
    }
  }

  /** Deletes files; those that are gone, and names that are none, do not matter. @throws what the file system says otherwise */
  async remove(files: readonly Pick<StoredRecordingFile, 'file'>[]): Promise<void> {
    for (const { file } of files) if (fileForm.test(file)) await removeInside(this.#recordings, this.path(file))
  }

  /** Token of the addresses of a recording. @throws ApiError internal as Store.unseal does */
  token({ id, token_sealed }: StoredRecording): string {
    return this.#store.unseal(token_sealed, placeOf('recordings', id))
  }
}

/** Content types of files. */
export const containerTypes = { mp4: 'video/mp4', webm: 'video/webm' } as const

/** `GET /record/<file>`: the file of a recording for whoever has its address, as long as the recording and its capability exist. */
export function recordDownload(pages: HolderPages, files: RecordFiles): HolderPage {
  return pages.page({
    kinds: ['recording'],
    read: (path) => {
      if (!path.startsWith(recordPath)) return undefined
      const file = path.slice(recordPath.length)
      return { token: files.tokenIn(file), file }
    },
    serve: async (request) => {
      const found = files.find(request)
      if (found === undefined || !(await answerFile(request, found.open))) return false
      request.context.type = containerTypes[found.file.container]
      request.context.set('Content-Disposition', `inline; filename="${found.file.file}"`)
      return true
    },
  })
}
