import type { Log } from '../observe/log.ts'
import type { EndBound } from './end-bound.ts'
import type { ChainEnd } from './entry-line.ts'
import type { HeadFile } from './head-file.ts'
import type { LogHead } from './head-proof.ts'

/** Between two notes of the log's end in the store, milliseconds. */
const noteMs = 60_000

/** Seal of the log: the head file names the first and the last entry, the store how far the log had come. */
export class LogSeal {
  readonly #head: HeadFile
  readonly #bound: EndBound | undefined
  readonly #logger: Log
  #oldest: LogHead['oldest']
  #newest: ChainEnd
  #notedAt = Number.NEGATIVE_INFINITY

  constructor(head: HeadFile, { oldest, newest }: LogHead, bound: EndBound | undefined, logger: Log) {
    this.#head = head
    this.#oldest = oldest
    this.#newest = newest
    this.#bound = bound
    this.#logger = logger
  }

  get oldest(): LogHead['oldest'] {
    return this.#oldest
  }

  /** The last entry that is synced. */
  get newest(): ChainEnd {
    return this.#newest
  }

  /** Writes the head as it is. @throws what the file system says */
  async write(): Promise<void> {
    await this.#head.write({ oldest: this.#oldest, newest: this.#newest })
  }

  /** Vouches for the entries up to this one, which are synced. @throws what the file system says */
  async extend(newest: ChainEnd): Promise<void> {
    await this.#head.write({ oldest: this.#oldest, newest })
    this.#newest = newest
    if (performance.now() - this.#notedAt >= noteMs) this.note()
  }

  /** Lets the log begin later. @throws what the file system says */
  async shorten(oldest: LogHead['oldest']): Promise<void> {
    this.#oldest = oldest
    await this.write()
  }

  /** Notes the end of the log in the store. A store that takes nothing now is no fault of the log. */
  note(): void {
    this.#notedAt = performance.now()
    try {
      this.#bound?.note(this.#newest.seq)
    } catch (error) {
      this.#logger.debug({ err: error }, 'the end of the event log was not noted in the store')
    }
  }

  async close(): Promise<void> {
    await this.#head.close()
  }
}
