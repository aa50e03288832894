import fs from 'node:fs'
import { promisify } from 'node:util'
import { insideOf } from '../../../../shared/files/own-path.ts'
import { syncFolder } from '../durable-files.ts'
import { monotonic } from '../../system/time.ts'
import { encodeLine, type SegmentHeader, segmentName } from '../../journal/journal-line.ts'

// These callback functions take a third of the time of the FileHandle methods.
const open = promisify(fs.open)
const write = promisify(fs.write)
const datasync = promisify(fs.fdatasync)
const truncate = promisify(fs.ftruncate)
const closeFile = promisify(fs.close)

/**
 * On Linux a write with this flag returns when its bytes are on disk. On other systems a sync follows each write (macOS
 * flushes its drive only then).
 */
const synchronous = process.platform === 'linux' ? fs.constants.O_DSYNC : 0

/**
 * Space is allocated in steps that double while the journal grows fast. Writing into allocated space takes half as long
 * (no metadata changes).
 */
const smallestStep = 64 * 1024
const largestStep = 4 * 1024 * 1024
/** Duration after which a step counts as large enough, in milliseconds. */
const lasting = 1_000

/** A segment that is being written. Calls must not overlap. */
export class JournalSegment {
  readonly #path: string
  readonly #fd: number
  #position: number
  /** Size of the file; zero-filled from `#position` on. */
  #allocated: number
  #step = smallestStep
  #stepAt = 0
  #filling: Promise<void> | undefined
  /** Whether the disk had no space for zeros: then allocation stops. */
  #fillRefused = false
  #lines = 0

  private constructor(path: string, fd: number, position: number) {
    this.#path = path
    this.#fd = fd
    this.#position = position
    this.#allocated = position
  }

  /** Creates a file with its header. When this resolves, the content and the name of the file are durable. */
  static async create(folder: string, header: SegmentHeader): Promise<JournalSegment> {
    const path = insideOf(folder, segmentName(header.segment))
    const { O_CREAT, O_EXCL, O_RDWR } = fs.constants
    const fd = await open(path, O_CREAT | O_EXCL | O_RDWR | synchronous, 0o600)
    try {
      const line = Buffer.from(encodeLine(JSON.stringify(header)))
      await writeAll(fd, line, line.length, 0)
      await syncFolder(folder)
      return new JournalSegment(path, fd, line.length)
    } catch (error) {
      // The first error is the one to report.
      await closeFile(fd).catch(() => undefined)
      throw error
    }
  }

  /** Number of change lines written. */
  get lines(): number {
    return this.#lines
  }

  /** Number of bytes written. */
  get position(): number {
    return this.#position
  }

  /**
   * Writes complete lines; they are on disk when the promise resolves. After a failure the segment must be abandoned.
   */
  async append(bytes: Buffer, length: number, lines: number): Promise<void> {
    // The zeros must not overwrite new lines.
    if (this.#filling !== undefined && this.#position + length > this.#allocated) await this.#filling
    await writeAll(this.#fd, bytes, length, this.#position)
    this.#position += length
    this.#lines += lines
    if (this.#position > this.#allocated) this.#allocated = this.#position
    if (this.#filling === undefined && !this.#fillRefused && this.#allocated - this.#position < this.#step / 2)
      this.#prepare()
  }

  /** Writes the footer and closes the segment. */
  async close(): Promise<void> {
    await this.#filling
    const footer = Buffer.from(encodeLine(JSON.stringify({ lines: this.#lines })))
    try {
      await writeAll(this.#fd, footer, footer.length, this.#position)
      this.#position += footer.length
      await truncate(this.#fd, this.#position)
    } finally {
      await closeFile(this.#fd)
    }
  }

  /**
   * Removes bytes that a failed write may have left, and closes the segment.
   * @returns false: the disk rejects the removal. Until the next segment has a header, a start would read the failed
   * lines
   */
  async abandon(): Promise<boolean> {
    await this.#filling
    try {
      await truncate(this.#fd, this.#position)
      await datasync(this.#fd)
      return true
    } catch {
      // The caller reports the failure.
      return false
    } finally {
      // The result is already known, and every confirmed line is synced.
      await closeFile(this.#fd).catch(() => undefined)
    }
  }

  /** Fills the next step with zeros, in parallel to writes before it. */
  #prepare(): void {
    const now = monotonic()
    if (this.#stepAt !== 0) {
      this.#step =
        now - this.#stepAt < lasting ? Math.min(this.#step * 2, largestStep) : Math.max(this.#step / 2, smallestStep)
    }
    this.#stepAt = now
    this.#filling = this.#fill(this.#allocated, this.#step).then(
      (end) => {
        this.#allocated = end
        this.#filling = undefined
      },
      () => {
        this.#fillRefused = true
        this.#filling = undefined
      },
    )
  }

  async #fill(from: number, length: number): Promise<number> {
    const { O_RDWR } = fs.constants
    const fd = await open(this.#path, O_RDWR)
    try {
      const zeros = Buffer.alloc(Math.min(length, 256 * 1024))
      for (let at = from; at < from + length; at += zeros.length) await writeAll(fd, zeros, zeros.length, at, false)
      await datasync(fd)
    } finally {
      await closeFile(fd)
    }
    return from + length
  }
}

async function writeAll(fd: number, bytes: Buffer, length: number, position: number, durable = true): Promise<void> {
  for (let done = 0; done < length; ) {
    const { bytesWritten } = await write(fd, bytes, done, length - done, position + done)
    if (bytesWritten === 0) throw new Error('The disk took no bytes.')
    done += bytesWritten
  }
  if (durable && synchronous === 0) await datasync(fd)
}
