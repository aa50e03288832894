import { open, readFile, rm, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { insideOf } from '../../../shared/files/own-path.ts'
import { hasCode } from '../../../shared/error-code.ts'
import { listFolder, setAside } from '../../store/files/durable-files.ts'
import { renameFile } from '../../store/system/rename-file.ts'
import { columnKey, type FigureColumn, FigureRing, type WrittenPart } from './figure-ring.ts'

/** File name in the data folder. */
const fileName = 'figures.ring'

export interface FigureFileOptions {
  folder: string
  logger: Pick<Logger, 'warn' | 'info'>
  /** Returns the current time, in milliseconds since the epoch. */
  now: () => number
}

/**
 * Stores figures on disk. If a write fails, the values stay in memory and are written when the disk accepts writes
 * again. The file never prevents a start.
 * Nothing is synced: after a power failure the last half minute may be missing.
 */
export class FigureFile {
  readonly #options: FigureFileOptions
  #ring: FigureRing
  #handle: FileHandle | undefined
  /** Unwritten parts of the ring, by offset: at most one per record. */
  readonly #unwritten = new Map<number, number>()
  /** Whether the whole file must be rewritten. */
  #isStale: boolean
  #writing: Promise<void> | undefined
  #refused = false

  private constructor(options: FigureFileOptions, ring: FigureRing, isStale: boolean) {
    this.#options = options
    this.#ring = ring
    this.#isStale = isStale
  }

  /** Reads the file, or creates a new file. A damaged file is set aside. Never rejects. */
  static async open(columns: readonly FigureColumn[], options: FigureFileOptions): Promise<FigureFile> {
    const { folder, logger, now } = options
    const path = join(folder, fileName)
    try {
      const bytes = await readFile(path)
      const read = FigureRing.read(bytes)
      if (read === undefined) {
        await forgetEarlier(folder)
        const name = await setAside(path, now())
        logger.warn({ file: name }, 'the recorded figures are damaged: set aside, begun again')
        return new FigureFile(options, new FigureRing(columns), true)
      }
      if (read.damaged > 0) logger.warn({ records: read.damaged }, 'recorded figures are damaged and left out')
      const file = new FigureFile(options, read.ring, read.changed || read.damaged > 0)
      file.fit(columns)
      return file
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) logger.warn({ err: error }, 'the recorded figures cannot be read')
      return new FigureFile(options, new FigureRing(columns), true)
    }
  }

  get ring(): FigureRing {
    return this.#ring
  }

  /** Changes the columns; remaining columns keep their figures. */
  fit(columns: readonly FigureColumn[]): void {
    const keys = (all: readonly FigureColumn[]): string => all.map(columnKey).join('\n')
    if (keys(columns) === keys(this.#ring.columns)) return
    this.#ring = this.#ring.withColumns(columns)
    this.#isStale = true
  }

  /** Records values for the finest step that begins at `at`. */
  put(at: number, values: readonly number[]): void {
    this.#note(this.#ring.put(at, values))
    this.#writing ??= this.#write()
  }

  /** Writes the remaining values. Never rejects. */
  async close(): Promise<void> {
    await this.#writing
    if (this.#unwritten.size > 0 || this.#isStale) await this.#write()
    // The writes have succeeded, or their error is reported.
    await this.#handle?.close().catch(() => {})
    this.#handle = undefined
  }

  #note(parts: readonly WrittenPart[]): void {
    if (this.#isStale) return
    for (const { offset, length } of parts) this.#unwritten.set(offset, length)
  }

  async #write(): Promise<void> {
    const { logger } = this.#options
    try {
      await (this.#isStale ? this.#writeWhole() : this.#writeParts())
      if (this.#refused) logger.info('figures are recorded again')
      this.#refused = false
    } catch (error) {
      // The error of the write is reported below.
      await this.#handle?.close().catch(() => {})
      this.#handle = undefined
      this.#isStale = true
      if (!this.#refused) logger.warn({ err: error }, 'figures cannot be recorded; they are kept in memory')
      this.#refused = true
    } finally {
      this.#writing = undefined
    }
  }

  async #writeWhole(): Promise<void> {
    const path = join(this.#options.folder, fileName)
    const temporary = `${path}.tmp`
    await this.#handle?.close()
    this.#handle = undefined
    this.#isStale = false
    this.#unwritten.clear()
    const handle = await open(temporary, 'w', 0o600)
    try {
      await handle.writeFile(this.#ring.bytes)
    } finally {
      await handle.close()
    }
    await renameFile(temporary, path)
  }

  async #writeParts(): Promise<void> {
    this.#handle ??= await open(join(this.#options.folder, fileName), 'r+')
    const parts = [...this.#unwritten]
    this.#unwritten.clear()
    for (const [offset, length] of parts) await this.#handle.write(this.#ring.bytes, offset, length, offset)
  }
}

/** Deletes files that earlier starts set aside, because only one damaged file is kept. */
async function forgetEarlier(folder: string): Promise<void> {
  const earlier = (await listFolder(folder)).filter((name) => name.startsWith(`${fileName}.damaged-`))
  await Promise.all(earlier.map((name) => rm(insideOf(folder, name), { force: true })))
}
