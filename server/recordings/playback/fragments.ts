import type { SegmentStart } from '../../../shared/recordings/segment.ts'
import type { HeaderReader } from './byte-source.ts'

/** Range of bytes in a file. */
export interface ByteRange {
  /** Bytes from the start of the file. */
  offset: number
  bytes: number
}

/** Picture that can be decoded on its own: its coded bytes, without a header. */
export interface KeyFrameRange extends ByteRange {
  /** Media time in seconds. */
  time: number
}

/** Fragment of an MP4 (moof and mdat), or cluster of a WebM. It can be played when appended after the init. */
export interface Fragment extends ByteRange {
  /** Media time of the first picture, in seconds; without pictures, of the first audio frame. A file starts at 0. */
  start: number
  /** Duration of the fragment, in seconds. */
  duration: number
  /** Key frames; empty without pictures. */
  keyFrames: readonly KeyFrameRange[]
  /** Whether the first picture in decoding order is a key frame; other pictures may be shown before it. */
  startsWithKey: boolean
  samples: number
  pictures: number
  /**
   * Size of the header of a WebM cluster of unknown size, in bytes; undefined: the cluster has a size. A player that
   * receives only parts of the file needs the size of the cluster.
   */
  unsizedHeader?: number | undefined
}

/**
 * Returns the end of the fragments, in seconds of media time. The last fragment may contain only sound and end before
 * the previous fragment.
 */
export function endOf(fragments: readonly Fragment[]): number {
  return fragments.reduce((end, { start, duration }) => Math.max(end, start + duration), 0)
}

export interface FragmentTrack {
  /** Number of the track in the file. */
  id: number
  type: 'video' | 'audio'
  /** Decoder configuration for WebCodecs: avcC or hvcC; undefined if the codec needs none. */
  description?: Uint8Array | undefined
}

/** Positions of init and fragments in the file of a segment. */
export interface FragmentTable {
  container: SegmentStart['container']
  /** Whether the file is still being written; only its complete fragments are listed. */
  growing: boolean
  /** Bytes before the first fragment. Empty if no fragment is complete yet. */
  init: ByteRange
  tracks: readonly FragmentTrack[]
  /** Fragments, sorted by time. */
  fragments: readonly Fragment[]
  /** End of the last fragment, in seconds of media time. */
  duration: number
  /** Units of time in the file, for reading a single fragment again. */
  units: TimeUnits
}

interface TimeUnits {
  /** Ticks per second of each MP4 track, by id. */
  timescales: Map<number, number>
  /** Duration of one WebM tick, in seconds. */
  tick: number
}

/** State of a scan. A scan continues from this state when the file has grown. */
export interface ScanState extends TimeUnits {
  init: ByteRange
  tracks: FragmentTrack[]
  fragments: Fragment[]
  /** Position of the next element in the file. */
  next: number
  /**
   * Receives the media time of each picture, in seconds; undefined in a scan of a whole file, to keep its table small.
   */
  pictureTimes?: number[]
}

/**
 * Scans from `state.next` to the end of the file.
 * @param ended whether the file, including its last fragment, is complete
 */
export type Scan = (reader: HeaderReader, state: ScanState, ended: boolean) => Promise<void>

/**
 * Requested part of a file. `all`: no Range header, or an invalid header, which is ignored. `outside`: the range starts
 * after the end.
 */
export type WantedRange = 'all' | 'outside' | ByteRange

/**
 * Parses a Range header (RFC 9110, section 14.2). A header with several ranges is ignored: players request only one.
 * @param size size of the file, in bytes
 */
export function wantedRange(header: string | null, size: number): WantedRange {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? []
  if (first === '' && last === '') return 'all'
  if (first === '') {
    const bytes = Math.min(Number(last), size)
    return bytes === 0 ? 'outside' : { offset: size - bytes, bytes }
  }
  const offset = Number(first)
  const end = last === '' ? size : Math.min(Number(last) + 1, size)
  if (last !== '' && Number(last) < offset) return 'all'
  return offset >= size ? 'outside' : { offset, bytes: end - offset }
}
