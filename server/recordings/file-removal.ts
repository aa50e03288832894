import { rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { sleep } from '../../shared/sleep.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import { removeNotedDays } from './notes/noted-days.ts'
import type { StoredIndex } from './index/stored-index.ts'

/** Files that are removed together, and the pause after them in milliseconds: at most 400 files a second. */
const batch = 20
const pauseMs = 50
/** Pause after the disk refused, in milliseconds. */
const retryMs = 5_000

/** Needs of the removal. */
export interface FileRemovalParts {
  folder: string
  index: Pick<StoredIndex, 'removals' | 'removed' | 'waitingRemovals'>
  /** Removes what was made of a recording, e.g. its thumbnails. @param file path below the folder */
  removeMade?: ((file: string) => Promise<void>) | undefined
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
    if (this.#stopped) return
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
    const { index, logger } = this.#parts
    while (!this.#stopped) {
      try {
        const files = index.removals(batch)
        if (files.length === 0) return
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
    const { folder, removeMade } = this.#parts
    const path = join(folder, file)
    await rm(path, { force: true })
    await removeMade?.(file)
    // The folder of its day goes with the last file; one that holds more refuses.
    await rmdir(dirname(path)).catch(() => {})
  }

  /** Removes the notes of the days that lost their last recording. */
  async #removeNotes(files: readonly { file: string }[]): Promise<void> {
    const streams = new Set(files.map(({ file }) => dirname(dirname(join(this.#parts.folder, file)))))
    for (const stream of streams) await removeNotedDays(stream)
  }
}
