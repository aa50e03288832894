import { LRUCache } from 'lru-cache'
import { growingTo } from '../../../shared/growing-cache.ts'
import type { SegmentStart } from '../../../shared/recordings/segment.ts'
import { type ByteSource, HeaderReader } from './byte-source.ts'
import { endOf, type Fragment, type FragmentTable, type Scan, type ScanState } from './fragments.ts'
import { scanMp4 } from './mp4-scan.ts'
import type { SegmentFiles, SegmentPlace } from './segment-sources.ts'
import { scanWebm } from './webm-scan.ts'

export type { ByteRange, FragmentTable } from './fragments.ts'

interface Entry {
  state: ScanState
  scannedBytes: number
  table: FragmentTable | undefined
  /** Last queued read of the file: reads of one file run one at a time. */
  turn: Promise<unknown>
}

/** Segment on the disk or in object storage. */
type ScannedSegment = SegmentPlace & Pick<SegmentStart, 'container'>

/** Maximum number of cached tables: a day of one camera has 1,440 segments of about 10 kB each. */
const maxTables = 4_000

/**
 * Fragment tables of the files of a recordings folder, including open files. Reads only headers, and caches recently
 * used tables.
 */
export class FragmentTables {
  readonly #files: SegmentFiles
  readonly #entries = new LRUCache<string, Entry>(growingTo(maxTables))

  constructor(files: SegmentFiles) {
    this.#files = files
  }

  /**
   * Returns the fragment table of a segment.
   * @param segment segment from the index: its path is trusted
   * @throws if the file cannot be read, or is not a recording
   */
  async of(segment: ScannedSegment): Promise<FragmentTable> {
    const entry = this.#entries.get(segment.file) ?? newEntry()
    if (entry.table?.growing === false) return entry.table
    this.#entries.set(segment.file, entry)
    const turn = entry.turn.then(() => this.#read(segment, entry))
    // The caller receives the error; the next call reads again.
    entry.turn = turn.catch(() => this.#entries.delete(segment.file))
    return await turn
  }

  /**
   * Returns the sorted times of the pictures in the fragment at a time and in the adjacent fragments, in seconds of
   * media time. Reads only the headers of these fragments.
   * @throws if the file cannot be read
   */
  async pictureTimes(segment: ScannedSegment, at: number): Promise<number[]> {
    const table = await this.of(segment)
    const fragments = fragmentsAround(table, at)
    if (fragments.length === 0) return []
    const source = await (await this.#files.locate(segment)).open()
    try {
      return await pictureTimes(source, scanOf(segment), table, fragments)
    } finally {
      await source.close()
    }
  }

  /** Drops the table of a file that was deleted or replaced. */
  forget(file: string): void {
    this.#entries.delete(file)
  }

  async #read(segment: ScannedSegment, entry: Entry): Promise<FragmentTable> {
    if (entry.table?.growing === false) return entry.table
    const { container } = segment
    const scan = scanOf(segment)
    const found = await this.#files.locate(segment)
    const { growing, size } = found
    if (entry.table !== undefined && growing && size === entry.scannedBytes) return entry.table
    const source = await found.open()
    try {
      await scan(new HeaderReader(source, size), entry.state, !growing)
    } finally {
      await source.close()
    }
    const { init, tracks, fragments, timescales, tick } = entry.state
    const units = { timescales, tick }
    const duration = endOf(fragments)
    entry.scannedBytes = size
    entry.table = { container, growing, init, tracks: [...tracks], fragments: [...fragments], duration, units }
    return entry.table
  }
}

/** Returns the state before a scan. */
export function newScanState(): ScanState {
  return { init: { offset: 0, bytes: 0 }, tracks: [], fragments: [], next: 0, timescales: new Map(), tick: 0.001 }
}

function scanOf({ container }: ScannedSegment): Scan {
  return container === 'mp4' ? scanMp4 : scanWebm
}

function newEntry(): Entry {
  return { state: newScanState(), scannedBytes: -1, table: undefined, turn: Promise.resolve() }
}

/** Tolerance for equal times, in seconds. */
const sameTime = 0.001

/**
 * Returns the fragment with pictures at a time, and its neighbors with pictures. These fragments contain the pictures
 * before and after each picture at that time.
 * @param at seconds of media time
 */
function fragmentsAround({ fragments }: FragmentTable, at: number): readonly Fragment[] {
  const pictured = fragments.filter(({ pictures }) => pictures > 0)
  const here = pictured.findLastIndex(({ start }) => start <= at + sameTime)
  return pictured.slice(Math.max(0, here - 1), Math.max(0, here) + 2)
}

/** Reads the sorted times of the pictures of some fragments, in seconds of media time. */
async function pictureTimes(
  source: Pick<ByteSource, 'read'>,
  scan: Scan,
  { init, tracks, units }: FragmentTable,
  fragments: readonly Fragment[],
): Promise<number[]> {
  const times: number[] = []
  for (const { offset, bytes } of fragments) {
    const state: ScanState = { ...units, init, tracks: [...tracks], fragments: [], next: offset, pictureTimes: times }
    await scan(new HeaderReader(source, offset + bytes), state, true)
  }
  return times.sort((one, other) => one - other)
}
