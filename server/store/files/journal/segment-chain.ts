import { stat } from 'node:fs/promises'
import { insideOf } from '../../../../shared/files/own-path.ts'
import { listFolder } from '../durable-files.ts'
import { type HighWater, readHighWater } from './high-water.ts'
import { type SegmentHeader, segmentName, segmentNumber } from '../../journal/journal-line.ts'
import { readSegmentHeader } from './segment-reader.ts'

/** The journal found at start: its segments, and whether some are missing. */
export class SegmentChain {
  /** Numbers of the segments in order, without unused segments. */
  readonly numbers: readonly number[]
  /** Headers by number, without damaged headers. */
  readonly headers: ReadonlyMap<number, SegmentHeader>
  /** Sizes in bytes, by number. */
  readonly sizes: ReadonlyMap<number, number>
  /** Ends of segments by number, from later headers. */
  readonly ends: Map<number, number>
  /**
   * Segments that were created but never written, according to later headers or their own. A program was killed while
   * it created the file.
   */
  readonly #unused = new Set<number>()
  /** The highest number ever used; 0: none. */
  readonly last: number
  /** Last known length of the durable journal; undefined: not recorded. */
  readonly highWater: HighWater | undefined

  private constructor(
    found: readonly number[],
    headers: ReadonlyMap<number, SegmentHeader>,
    unfinished: readonly number[],
    sizes: ReadonlyMap<number, number>,
    highWater: HighWater | undefined,
  ) {
    this.highWater = highWater
    this.headers = headers
    this.sizes = sizes
    this.ends = new Map()
    for (const number of found) {
      for (const [segment, end] of Object.entries(headers.get(number)?.ends ?? {})) {
        if (sizes.has(Number(segment))) this.ends.set(Number(segment), end)
        if (end === 0) this.#unused.add(Number(segment))
      }
    }
    for (const number of unfinished) {
      // A segment with changes that lacks even its header was damaged afterwards.
      if (number === highWater?.segment || (this.ends.get(number) ?? 0) > 0) continue
      this.ends.set(number, 0)
      this.#unused.add(number)
    }
    this.numbers = found.filter((number) => this.ends.get(number) !== 0)
    this.last = Math.max(found.at(-1) ?? 0, highWater?.segment ?? 0)
  }

  static async open(folder: string): Promise<SegmentChain> {
    const found = (await listFolder(folder)).map(segmentNumber).filter((number) => number !== undefined)
    found.sort((a, b) => a - b)
    const headers = new Map<number, SegmentHeader>()
    const sizes = new Map<number, number>()
    const unfinished: number[] = []
    for (const number of found) {
      sizes.set(number, (await stat(insideOf(folder, segmentName(number)))).size)
      const header = await readSegmentHeader(folder, number)
      if (header === 'unfinished') unfinished.push(number)
      else if (header !== 'damaged') headers.set(number, header)
    }
    return new SegmentChain(found, headers, unfinished, sizes, await readHighWater(folder))
  }

  /** Whether every segment from `first` on exists. */
  covers(first: number): boolean {
    return this.coversUpToNewest(first) && ((this.highWater?.segment ?? 0) < first || !this.newestMissing)
  }

  /** Whether every segment from `first` on exists, except for the newest. */
  coversUpToNewest(first: number): boolean {
    let before = first - 1
    for (const number of this.from(first)) {
      while (this.#unused.has(before + 1)) before++
      // Numbers that were never used leave gaps. The field `previous` of the header distinguishes a gap from lost
      // segments.
      if (number !== before + 1 && (this.headers.get(number)?.previous ?? number) > before) return false
      before = number
    }
    while (this.#unused.has(before + 1)) before++
    const newest = this.highWater?.segment ?? 0
    return newest < first || !this.newestMissing || before === newest - 1
  }

  /** Whether the segment of the high-water mark is missing. */
  get newestMissing(): boolean {
    return this.highWater !== undefined && !this.numbers.includes(this.highWater.segment)
  }

  /** Whether `covers(first)` holds and the newest segment has its full length. */
  wholeFrom(first: number): boolean {
    const mark = this.highWater
    const cut = mark !== undefined && mark.segment >= first && (this.sizes.get(mark.segment) ?? 0) < mark.end
    return !cut && this.covers(first)
  }

  /** Returns the numbers of the segments from `first` on. */
  from(first: number): number[] {
    return this.numbers.filter((number) => number >= first)
  }
}
