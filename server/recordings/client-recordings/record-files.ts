import { type FileHandle, readdir } from 'node:fs/promises'
import { hasCode } from '../../../shared/error-code.ts'
import { insideOf, type OwnPath, PathError } from '../../../shared/files/own-path.ts'
import { makeInside, openInside, removeInside, reserveInside } from '../../../shared/files/real-path.ts'
import type { HeldRequest, HolderPage, HolderPages } from '../../capabilities/holder-pages.ts'
import type { StoredRecording, StoredRecordingFile, StoredRecordingRemoval } from '../../store/recording-records.ts'
import { sealedPlaceOf } from '../../store/sealed-places.ts'
import type { Store } from '../../store/store.ts'
import { answerFile } from './byte-answer.ts'

/** Folder below the recordings folder for the files of ordered recordings. Folder names of ids never contain `~`. */
const filesFolder = '~files'
/** Path prefix of file addresses on the media port. */
const recordPath = '/record/'
const nameForm = /^([0-9]{1,20})-([\w-]{32})(?:-([0-9]{1,4}))?\.(mp4|webm)$/

/** Name of a file of a recording or of one of its drafts. */
const fileForm = /^[0-9]{1,20}-[\w.-]{1,100}\.(?:mp4|webm)$/

/** Complete files of recordings: their paths on the disk and their public addresses. */
export class RecordFiles {
  readonly #recordings: string
  readonly #store: Pick<Store, 'get' | 'unseal'>

  /** @param folder recordings folder; empty: the folder is unusable, so no files exist and none are removed */
  constructor(folder: string, store: Pick<Store, 'get' | 'unseal'>) {
    this.#recordings = folder
    this.#store = store
  }

  /** @throws PathError if the recordings folder is unusable */
  get #folder(): OwnPath {
    return insideOf(this.#recordings, filesFolder)
  }

  /** Creates the folder of the files if it is missing. @throws PathError; errors of the file system */
  async ready(): Promise<void> {
    await makeInside(this.#recordings, this.#folder, 0o700)
  }

  /**
   * Creates an empty file, for a program that opens its output by path.
   * @throws PathError; errors of the file system
   */
  async reserve(file: string): Promise<OwnPath> {
    await this.ready()
    return await reserveInside(this.#recordings, this.path(file))
  }

  /** Returns the path of a file. @param file name, which is checked @throws PathError if the name is invalid */
  path(file: string): OwnPath {
    if (!fileForm.test(file)) throw new PathError(`${JSON.stringify(file)} is not the file of a recording.`)
    return insideOf(this.#folder, file)
  }

  /**
   * Returns the path part of a file's address; empty if its capability has ended.
   * @throws the errors of Store.unseal
   */
  address(recording: StoredRecording, index: number): string {
    const { capability } = recording
    if (capability !== undefined && this.#store.get('capabilities', capability) === undefined) return ''
    const container = recording.files[index]?.container ?? recording.container ?? 'mp4'
    const suffix = index === 0 ? '' : `-${index}`
    return `${recordPath}${recording.id}-${this.token(recording)}${suffix}.${container}`
  }

  /** Returns the token in the last part of an address; empty if there is none. */
  tokenIn(name: string): string {
    return nameForm.exec(name)?.[2] ?? ''
  }

  /** Returns the requested file; undefined: the address matches no file. */
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
    // Names from the store are not trusted: they may come from a restored backup.
    if (!fileForm.test(file.file)) return undefined
    return { recording, file, open: async () => await openInside(this.#recordings, this.path(file.file)) }
  }

  /** Lists the names of all files. @throws errors of the file system */
  async list(): Promise<string[]> {
    try {
      return (await readdir(this.#folder)).filter((name) => fileForm.test(name))
    } catch (error) {
      if (hasCode(error, 'ENOENT') || error instanceof PathError) return []
      throw error
    }
  }

  /** Deletes files. Missing files and invalid names are ignored. @throws other errors of the file system */
  async remove(files: readonly Pick<StoredRecordingFile, 'file'>[]): Promise<void> {
    for (const { file } of files) if (fileForm.test(file)) await removeInside(this.#recordings, this.path(file))
  }

  /** Returns the token in the addresses of a recording. @throws the errors of Store.unseal */
  token({ id, token_sealed }: StoredRecording): string {
    return this.#store.unseal(token_sealed, sealedPlaceOf('recordings', id))
  }
}

export const containerTypes = { mp4: 'video/mp4', webm: 'video/webm' } as const

/**
 * `GET /record/<file>`: sends the file of a recording to every client with its address, while the recording and its
 * capability exist.
 */
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

interface RecordRemovalsDependencies {
  store: Pick<Store, 'get' | 'all' | 'transact' | 'onChange' | 'leadership'>
  files: Pick<RecordFiles, 'list' | 'remove'>
  logger: { warn(fields: object, message: string): void }
  /** Returns the current time, in milliseconds since the epoch. */
  clock: () => number
}

/**
 * Time for which a removal record is kept, in milliseconds. A controller with its own recordings folder deletes its
 * files the next time it is the leader.
 */
const keptMs = 30 * 24 * 60 * 60 * 1_000

/**
 * Deletes the files and drafts of deleted recordings from the folder of the leading controller. Only removal records
 * trigger a deletion. Files of a recording that is missing from a restored backup stay.
 */
export class RecordRemovals {
  readonly #dependencies: RecordRemovalsDependencies
  readonly #stops: (() => void)[] = []
  #sweeping: Promise<void> | undefined
  #isDue = false

  constructor(dependencies: RecordRemovalsDependencies) {
    this.#dependencies = dependencies
  }

  start(): void {
    const { store } = this.#dependencies
    this.#stops.push(
      store.onChange(
        (changes) => {
          if (changes.some(({ collection, value }) => collection === 'recording_removals' && value !== undefined))
            this.sweep()
        },
        ['recording_removals'],
      ),
      store.leadership.onChange(() => this.sweep()),
    )
    this.sweep()
  }

  async close(): Promise<void> {
    for (const stop of this.#stops.splice(0)) stop()
    this.#isDue = false
    await this.#sweeping
  }

  /** Deletes the files of all removal records. A call during a sweep starts a further sweep afterwards. */
  sweep(): void {
    this.#isDue = true
    this.#sweeping ??= this.#run().finally(() => {
      this.#sweeping = undefined
    })
  }

  async #run(): Promise<void> {
    while (this.#isDue) {
      this.#isDue = false
      try {
        await this.#sweepOnce()
      } catch (err) {
        this.#dependencies.logger.warn({ err }, 'files of deleted recordings could not be deleted')
      }
    }
  }

  async #sweepOnce(): Promise<void> {
    const { store, files, clock } = this.#dependencies
    const removals = store.all('recording_removals')
    if (!store.leadership.isHeld || removals.size === 0) return
    await store.leadership.confirmed()
    const names = await files.list()
    await files.remove(names.filter((file) => removals.has(recordingOf(file))).map((file) => ({ file })))
    const until = clock() - keptMs
    const over = [...removals].filter(([, { at = 0 }]: [string, StoredRecordingRemoval]) => at < until)
    if (over.length === 0) return
    await store.transact(['recordings'], (transaction) => {
      for (const [id] of over) transaction.delete('recording_removals', id)
    })
  }
}

/** Returns the id of the recording to which a file name belongs. */
function recordingOf(file: string): string {
  return file.slice(0, file.indexOf('-'))
}
