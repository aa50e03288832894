import { sleep } from '../../shared/sleep.ts'
import { rmdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { insideOf, type OwnPath, PathError } from '../../shared/files/own-path.ts'
import { removeInside } from '../../shared/files/real-path.ts'
import { recordedPath } from '../../shared/files/recorded-path.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import type { Store } from '../store/store.ts'
import { removeNotedDays } from './notes/note.ts'
import type { StoredIndex } from './index/stored-index.ts'

/** Files that are removed together, and the pause after them in milliseconds: at most 400 files a second. */
const batch = 20
const pauseMs = 50
/** Pause after the disk refused, in milliseconds. */
const retryMs = 5_000

/** Needs of the removal. */
export interface FileRemovalParts {
  folder: string
  store: Pick<Store, 'leadership'>
  index: Pick<StoredIndex, 'removals' | 'removed' | 'waitingRemovals'>
  /** Files left the disk: their objects are next. */
  removed?: (() => void) | undefined
  logger: NodeLogger
}

/** Removes the files of deleted segments from the disk, a few at a time. What is left at the end of the program is removed after the next start. */
export class FileRemoval {
  readonly #parts: FileRemovalParts
  #work: Promise<void> | undefined
  #stopped = false
  #failed = false

  constructor(parts: FileRemovalParts) {
    this.#parts = parts
  }

  /** Begins to remove files unless that is under way. */
  begin(): void {
    if (this.#stopped || !this.#parts.store.leadership.isHeld) return
    this.#work ??= this.#run().finally(() => {
      this.#work = undefined
    })
  }

  /** Number of files that still have to be removed, and their bytes. */
  get waiting(): number {
    return this.#parts.index.waitingRemovals().files
  }

  get waitingBytes(): number {
    return this.#parts.index.waitingRemovals().bytes
  }

  /** Resolves when no file is being removed. */
  async settled(): Promise<void> {
    await this.#work
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#work
  }

  async #run(): Promise<void> {
    const { store, index, logger } = this.#parts
    while (!this.#stopped && store.leadership.isHeld) {
      try {
        const files = index.removals(batch)
        if (files.length === 0) return
        await store.leadership.confirmed()
        await Promise.all(files.map(({ file }) => this.#remove(file)))
        await this.#removeNotes(files)
        index.removed(files.map(({ id }) => id))
        this.#parts.removed?.()
        this.#failed = false
        await sleep(pauseMs, { ref: false })
      } catch (error) {
        if (!this.#failed) logger.error({ err: error }, 'deleted recordings cannot be removed from the disk')
        this.#failed = true
        await sleep(retryMs, { ref: false })
      }
    }
  }

  async #remove(file: string): Promise<void> {
    const { folder } = this.#parts
    const path = pathOf(folder, file)
    // A row that names no recording is forgotten: nothing is removed for it.
    if (path === undefined) return
    // A folder in its place would be tried again for ever.
    await removeInside(folder, path, { recursive: true }).catch((error: unknown) => {
      if (!(error instanceof PathError)) throw error
    })
    // The folder of its day goes with the last file; one that holds more refuses.
    const day = dirname(path)
    // Other files of the day are in the folder still.
    if (day !== folder) await rmdir(day).catch(() => {})
  }

  /** Removes the notes of the days that lost their last recording. */
  async #removeNotes(files: readonly { file: string }[]): Promise<void> {
    const { folder } = this.#parts
    const streams = new Set(
      files.flatMap(({ file }) => {
        const parts = pathOf(folder, file) === undefined ? [] : file.split('/').slice(0, -2)
        return parts.length === 0 ? [] : [insideOf(folder, ...parts)]
      }),
    )
    for (const stream of streams) await removeNotedDays(folder, stream)
  }
}

/** Path of the file of a row; undefined: it names no recording. */
function pathOf(folder: string, file: string): OwnPath | undefined {
  try {
    return recordedPath(folder, file)
  } catch {
    // See above.
    return undefined
  }
}
