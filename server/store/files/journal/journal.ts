import { rm } from 'node:fs/promises'
import { insideOf } from '../../../../shared/files/own-path.ts'
import { hasCode } from '../../../../shared/error-code.ts'
import { syncFile, syncFolder } from '../durable-files.ts'
import type { HighWaterFile } from './high-water.ts'
import { segmentName } from '../../journal/journal-line.ts'
import { OutcomeUnknownError, storageReasonOf } from '../../storage.ts'
import { JournalSegment } from './journal-segment.ts'

export interface JournalOptions {
  folder: string
  version: number
  /** Number of the next segment. */
  next: number
  /** Number of the last existing segment; 0: none. */
  previous: number
  /** Ends of the existing segments, by number; see SegmentHeader.ends. */
  ends: ReadonlyMap<number, number>
  /** Sizes of the existing segments in bytes, by number. */
  sizes: ReadonlyMap<number, number>
  /** Returns the highest room number assigned so far. */
  roomNumber: () => number
  /** Updated after each write with the length of the durable journal. */
  highWater: HighWaterFile
  clock: () => number
}

interface Growing {
  segment: JournalSegment
  number: number
  /** Time at which the segment was created, in milliseconds since the epoch. */
  since: number
}

/**
 * Writes the journal: numbered segments, of which only the last one grows. Calls must not overlap, except for `cut`.
 */
export class Journal {
  readonly #options: JournalOptions
  readonly #ends: Map<number, number>
  readonly #sizes: Map<number, number>
  #next: number
  #previous: number
  #current: Growing | undefined
  /** Whether the segments found at start, and their names, are synced. */
  #foundSynced = false

  constructor(options: JournalOptions) {
    this.#options = options
    this.#next = options.next
    this.#previous = options.previous
    this.#ends = new Map(options.ends)
    this.#sizes = new Map(options.sizes)
  }

  /**
   * Writes complete lines; they are on disk when the promise resolves. With length 0, the call only tests whether the
   * disk accepts a new segment.
   * If the promise rejects, none of the lines counts, unless the error is an OutcomeUnknownError. The next call then
   * begins a new segment: a file is never used again after a failed write.
   */
  async append(bytes: Buffer, length: number, lines: number): Promise<void> {
    const current = this.#current ?? (await this.#begin())
    if (length === 0) return
    try {
      await current.segment.append(bytes, length, lines)
    } catch (error) {
      this.#current = undefined
      this.#ends.set(current.number, current.segment.position)
      if (await current.segment.abandon()) throw error
      throw new OutcomeUnknownError(storageReasonOf(error), { cause: error })
    }
    this.#sizes.set(current.number, current.segment.position)
    const { highWater, roomNumber, clock } = this.#options
    highWater.reached({
      segment: current.number,
      end: current.segment.position,
      lines: current.segment.lines,
      since: current.since,
      at: clock(),
      room_number: roomNumber(),
    })
  }

  /** Ends the current segment. @returns the number of the first segment with later changes */
  async rotate(): Promise<number> {
    const current = this.#current
    this.#current = undefined
    if (current !== undefined) {
      // Without a footer, the next header still contains the end of this segment.
      await current.segment.close().catch(() => undefined)
      this.#ends.set(current.number, current.segment.position)
      this.#sizes.set(current.number, current.segment.position)
    }
    return this.#next
  }

  /** Ends the current segment and closes the journal. */
  async close(): Promise<void> {
    await this.rotate()
    await this.#options.highWater.close()
  }

  /** Deletes the segments with numbers below `before`. */
  async cut(before: number): Promise<void> {
    for (const number of [...this.#sizes.keys()]) {
      if (number >= before || number === this.#current?.number) continue
      await rm(insideOf(this.#options.folder, segmentName(number)), { force: true })
      this.#sizes.delete(number)
      this.#ends.delete(number)
    }
  }

  /** Returns the size of the segments from `first` on, in bytes. */
  bytesFrom(first: number): number {
    let sum = 0
    for (const [number, bytes] of this.#sizes) if (number >= first) sum += bytes
    return sum
  }

  async #begin(): Promise<Growing> {
    const { folder, version, roomNumber } = this.#options
    await this.#syncFound()
    const number = this.#next++
    const header = {
      journal: 1,
      version,
      segment: number,
      previous: this.#previous,
      ends: Object.fromEntries(this.#ends),
      room_number: roomNumber(),
    } as const
    let segment: JournalSegment
    try {
      segment = await JournalSegment.create(folder, header)
    } catch (error) {
      await this.#discard(number)
      throw error
    }
    this.#current = { segment, number, since: this.#options.clock() }
    this.#previous = number
    this.#sizes.set(number, segment.position)
    return this.#current
  }

  /**
   * Syncs the segments of earlier processes, once. Names and bytes from a killed process may exist only in the kernel's
   * cache. If a header referred to them, recovery after a power failure would report a loss.
   */
  async #syncFound(): Promise<void> {
    if (this.#foundSynced) return
    const { folder } = this.#options
    if (this.#previous > 0) await syncFile(insideOf(folder, segmentName(this.#previous)))
    await syncFolder(folder)
    this.#foundSynced = true
  }

  /** Removes a segment that could not be created. If that fails too, the next header marks it as unused. */
  async #discard(number: number): Promise<void> {
    try {
      await rm(insideOf(this.#options.folder, segmentName(number)))
      await syncFolder(this.#options.folder)
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return
      this.#ends.set(number, 0)
      this.#sizes.set(number, 0)
    }
  }
}
