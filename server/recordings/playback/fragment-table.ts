import { open, stat } from 'node:fs/promises'
import { join, normalize, sep } from 'node:path'
import { LRUCache } from 'lru-cache'
import { partSuffix } from '../../../shared/recordings/segment-path.ts'
import type { SegmentStart } from '../../../shared/recordings/segment.ts'
import { HeaderReader } from './header-reader.ts'
import { scanMp4 } from './mp4-scan.ts'
import { scanWebm } from './webm-scan.ts'

/** A piece of a file. */
export interface ByteRange {
  /** Bytes from the start of the file. */
  offset: number
  bytes: number
}

/** A picture that is decoded by itself: its coded bytes, without a header. */
export interface KeyFrame extends ByteRange {
  /** Media time in seconds. */
  time: number
}

/** A fragment of an MP4 (moof and mdat), or a cluster of a WebM: appended after the init, it plays. */
export interface Fragment extends ByteRange {
  /** Media time of the first picture, or sound where there is no picture, in seconds; the file begins at 0. */
  start: number
  /** Seconds. */
  duration: number
  /** Key frames of the picture; empty for sound alone. */
  keyFrames: readonly KeyFrame[]
  /** Number of pictures and sounds. */
  samples: number
  /** Number of pictures. */
  pictures: number
  /** Bytes of the header of a WebM cluster of unknown size: a player that is given parts of the file needs its size. */
  unsizedHeader?: number | undefined
}

/** A track of a file. */
export interface FragmentTrack {
  /** Number of the track in the file. */
  id: number
  type: 'video' | 'audio'
  /** Decoder configuration as WebCodecs takes it: avcC, hvcC; undefined where none is needed. */
  description?: Uint8Array | undefined
}

/** Places of init and fragments in the file of a segment. */
export interface FragmentTable {
  container: SegmentStart['container']
  /** Whether the file is still written; only its complete fragments are listed. */
  growing: boolean
  /** Bytes up to the first fragment. No bytes: none is complete yet. */
  init: ByteRange
  tracks: readonly FragmentTrack[]
  /** In order of time. */
  fragments: readonly Fragment[]
  /** End of the last fragment, in seconds of media time. */
  duration: number
}

/** State of a scan, which goes on where it ended when the file has grown. */
export interface ScanState {
  init: ByteRange
  tracks: FragmentTrack[]
  fragments: Fragment[]
  /** Where the next element begins. */
  next: number
  /** Ticks a second of each MP4 track, by id. */
  timescales: Map<number, number>
  /** Seconds of one WebM tick. */
  tick: number
}

/** Scans from `state.next` to the end of the file. @param ended whether the file is complete: its last fragment is, too */
export type Scan = (reader: HeaderReader, state: ScanState, ended: boolean) => Promise<void>

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
