import { open, stat } from 'node:fs/promises'
import { join, normalize, sep } from 'node:path'
import { LRUCache } from 'lru-cache'
import { partSuffix } from '../../../shared/recordings/segment-path.ts'
import type { SegmentStart } from '../../../shared/recordings/segment.ts'
import type { FragmentTable, ScanState } from './fragments.ts'
import { HeaderReader } from './header-reader.ts'
import { scanMp4 } from './mp4-scan.ts'
import { scanWebm } from './webm-scan.ts'

export type { ByteRange, FragmentTable } from './fragments.ts'

interface Entry {
  state: ScanState
  scannedBytes: number
  table: FragmentTable | undefined
  /** Callers of one file take turns. */
  turn: Promise<unknown>
}

/** Tables kept in memory: a day of one camera is 1,440 segments of about 10 kB each. */
const maxTables = 4_000

/** Fragment tables of the files of a recordings folder, also of those that are being written. Reads headers only, and keeps the latest. */
export class FragmentTables {
  readonly #folder: string
  readonly #entries = new LRUCache<string, Entry>({ max: maxTables })

  /** @param folder recordings folder */
  constructor(folder: string) {
    this.#folder = folder
  }

  /**
   * @param segment from the index: its path is trusted
   * @throws when the file cannot be read, or is none of ours
   */
  async of(segment: Pick<SegmentStart, 'file' | 'container'>): Promise<FragmentTable> {
    const entry = this.#entries.get(segment.file) ?? newEntry()
    if (entry.table?.growing === false) return entry.table
    this.#entries.set(segment.file, entry)
    const turn = entry.turn.then(() => this.#read(segment, entry))
    entry.turn = turn.catch(() => this.#entries.delete(segment.file))
    return await turn
  }

  /** Forgets a file that was deleted or replaced. */
  forget(file: string): void {
    this.#entries.delete(file)
  }

  async #read({ file, container }: Pick<SegmentStart, 'file' | 'container'>, entry: Entry): Promise<FragmentTable> {
    if (entry.table?.growing === false) return entry.table
    const found = await locate(this.#folder, file)
    const { growing, size } = found
    if (entry.table !== undefined && growing && size === entry.scannedBytes) return entry.table
    const handle = await open(found.path, 'r')
    try {
      const scan = container === 'mp4' ? scanMp4 : scanWebm
      await scan(new HeaderReader(handle, size), entry.state, !growing)
    } finally {
      await handle.close()
    }
    const { init, tracks, fragments } = entry.state
    const last = fragments.at(-1)
    const duration = last === undefined ? 0 : last.start + last.duration
    entry.scannedBytes = size
    entry.table = { container, growing, init, tracks: [...tracks], fragments: [...fragments], duration }
    return entry.table
  }
}

/**
 * Finds the file of a segment, under its final name or the one of a file that is being written.
 * @throws when there is none
 */
export async function locate(folder: string, file: string): Promise<{ path: string; size: number; growing: boolean }> {
  const path = normalize(join(folder, file))
  if (!path.startsWith(normalize(folder + sep))) throw new Error('the path of a segment leaves the recordings folder')
  const whole = await stat(path).catch(() => undefined)
  if (whole !== undefined) return { path, size: whole.size, growing: false }
  const part = await stat(path + partSuffix).catch(() => undefined)
  if (part !== undefined) return { path: path + partSuffix, size: part.size, growing: true }
  // Renamed between the two looks.
  const { size } = await stat(path)
  return { path, size, growing: false }
}

/** State before a scan. */
export function newScanState(): ScanState {
  return { init: { offset: 0, bytes: 0 }, tracks: [], fragments: [], next: 0, timescales: new Map(), tick: 0.001 }
}

function newEntry(): Entry {
  return { state: newScanState(), scannedBytes: -1, table: undefined, turn: Promise.resolve() }
}
