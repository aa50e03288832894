import type { SegmentStart } from '../../../shared/recordings/segment.ts'
import type { HeaderReader } from './byte-source.ts'

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
  /** Its first picture in decoding order is a key frame; others may be shown before it. */
  startsWithKey: boolean
  /** Number of pictures and sounds. */
  samples: number
  /** Number of pictures. */
  pictures: number
  /** Bytes of the header of a WebM cluster of unknown size: a player that is given parts of the file needs its size. */
  unsizedHeader?: number | undefined
}

/** End of the fragments, in seconds of media time: sound that was written after the last picture may end before it. */
export function endOf(fragments: readonly Fragment[]): number {
  return fragments.reduce((end, { start, duration }) => Math.max(end, start + duration), 0)
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
  /** Units of time in the file, for those who read one fragment again. */
  units: TimeUnits
}

/** Units of time of a file. */
interface TimeUnits {
  /** Ticks a second of each MP4 track, by id. */
  timescales: Map<number, number>
  /** Seconds of one WebM tick. */
  tick: number
}

/** State of a scan, which goes on where it ended when the file has grown. */
export interface ScanState extends TimeUnits {
  init: ByteRange
  tracks: FragmentTrack[]
  fragments: Fragment[]
  /** Position of the next element in the file. */
  next: number
  /** Takes the media time of each picture, in seconds; left out by a scan of a whole file, whose table stays small. */
  pictureTimes?: number[]
}

/** Scans from `state.next` to the end of the file. @param ended whether the file is complete: its last fragment is, too */
export type Scan = (reader: HeaderReader, state: ScanState, ended: boolean) => Promise<void>

/** Part of a file that a Range header asks for. all: no range, or one that is not understood, which counts as none. outside: it begins behind the end. */
export type WantedRange = 'all' | 'outside' | ByteRange

/** Reads a Range header (RFC 9110, section 14.2). Of several ranges none is given: players ask for one. @param size of the file in bytes */
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
