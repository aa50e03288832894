import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { HeldRequest } from '../../capabilities/holder-pages.ts'
import type { StoredCapabilityKind } from '../../store/capability-record.ts'
import { answerContent } from '../client-recordings/byte-answer.ts'
import type { ByteRange, FragmentTable } from '../playback/fragment-table.ts'
import { boxPlaces, samplePlaces } from '../playback/mp4-scan.ts'
import { type ElementPlace, elementPlaces, numberAt } from '../playback/webm-scan.ts'

/** File, and its ranges that may be sent. */
export interface PartOfFile {
  /** Opens the file inside a folder of this program. */
  open: () => Promise<FileHandle>
  table: Pick<FragmentTable, 'init' | 'fragments'>
  allowed: readonly ByteRange[]
}

/**
 * Sends a recording, or the requested part of it, with changed init and fragments. Init and fragments keep their
 * positions in the file. The caller sets the content type.
 * @param file bytes after the last fragment of the table are not sent
 * @param change changes the init or a complete fragment in place; `offset` is its position in the file
 */
export function answerChanged<K extends StoredCapabilityKind>(
  request: HeldRequest<K>,
  { open, table, allowed }: PartOfFile,
  change: (piece: Buffer, offset: number) => void,
): void {
  const pieces = piecesOf(table)
  const size = pieces.reduce((end, piece) => Math.max(end, piece.offset + piece.bytes), 0)
  const read = (part: ByteRange): Readable => Readable.from(changedBytes(open, pieces, change, part))
  answerContent(request, { size, allowed, read })
}

/** Returns the init and the fragments, each extended to the start of the next fragment. */
function piecesOf({ init, fragments }: Pick<FragmentTable, 'init' | 'fragments'>): ByteRange[] {
  return [init, ...fragments].map(({ offset, bytes }, index) => {
    const next = fragments[index]
    return { offset, bytes: next === undefined ? bytes : next.offset - offset }
  })
}

async function* changedBytes(
  open: () => Promise<FileHandle>,
  pieces: readonly ByteRange[],
  change: (piece: Buffer, offset: number) => void,
  { offset, bytes }: ByteRange,
): AsyncGenerator<Buffer> {
  const file = await open()
  try {
    for (const piece of pieces) {
      const [from, to] = [Math.max(piece.offset, offset), Math.min(piece.offset + piece.bytes, offset + bytes)]
      if (from >= to) continue
      const content = Buffer.alloc(piece.bytes)
      await file.read(content, 0, piece.bytes, piece.offset)
      change(content, piece.offset)
      yield content.subarray(from - piece.offset, to - piece.offset)
    }
  } finally {
    await file.close()
  }
}

/**
 * Adds an offset to the decode times of an MP4 fragment, in place. Media time starts at 0 in each file, but a playlist
 * of several files needs increasing times. ffmpeg discards a sample that is not later than the previous one, even after
 * a discontinuity (`mov_read_trun`).
 * @param piece the init, which stays unchanged, or a complete fragment
 * @param seconds number of seconds to add
 * @param timescales ticks per second of each track, by id
 */
export function moveTimes(piece: Buffer, seconds: number, timescales: ReadonlyMap<number, number>): void {
  for (const { type, from, to } of boxPlaces(piece)) {
    if (type !== 'moof') continue
    for (const track of boxPlaces(piece, from, to)) {
      if (track.type !== 'traf') continue
      const boxes = [...boxPlaces(piece, track.from, track.to)]
      const header = boxes.find((box) => box.type === 'tfhd')
      const time = boxes.find((box) => box.type === 'tfdt')
      const timescale = header && timescales.get(piece.readUInt32BE(header.from + 4))
      // The recorder writes 64-bit times (ISO/IEC 14496-12, section 8.8.12).
      if (timescale === undefined || time === undefined || piece[time.from] !== 1) continue
      const moved = piece.readBigUInt64BE(time.from + 4) + BigInt(Math.round(seconds * timescale))
      piece.writeBigUInt64BE(moved, time.from + 4)
    }
  }
}

/**
 * Hides tracks in a piece of an MP4, in place. The boxes of these tracks become `free` boxes, which players skip
 * (ISO/IEC 14496-12, section 8.1.2), and the media becomes zeros. All sizes and positions stay the same, so that byte
 * ranges in playlists remain valid.
 * @param piece the init, or a complete fragment
 * @param offset position of the piece in its file
 */
export function hideTracks(piece: Buffer, offset: number, hidden: ReadonlySet<number>): void {
  for (const { type, from, to } of boxPlaces(piece)) {
    if (type === 'moov') hideInMovie(piece, from, to, hidden)
    else if (type === 'moof') hideInFragment(piece, { from, to, offset }, hidden)
  }
}

/** Returns the ids of the tracks of a file that must not be sent. */
export function hiddenTracks(
  { tracks }: Pick<FragmentTable, 'tracks'>,
  wanted: { sound: boolean; picture: boolean },
): Set<number> {
  const isWanted = { audio: wanted.sound, video: wanted.picture }
  return new Set(tracks.filter(({ type }) => !isWanted[type]).map(({ id }) => id))
}

function hideInMovie(piece: Buffer, from: number, to: number, hidden: ReadonlySet<number>): void {
  for (const { type, start, from: begin, to: end } of boxPlaces(piece, from, to)) {
    if (type === 'mvex') {
      for (const each of boxPlaces(piece, begin, end))
        if (each.type === 'trex' && hidden.has(piece.readUInt32BE(each.from + 4))) free(piece, each.start, each.to)
    } else if (type === 'trak') {
      const header = [...boxPlaces(piece, begin, end)].find((each) => each.type === 'tkhd')
      const id = header && piece.readUInt32BE(header.from + (piece[header.from] === 1 ? 20 : 12))
      if (id !== undefined && hidden.has(id)) free(piece, start, end)
    }
  }
}

function hideInFragment(
  piece: Buffer,
  { from, to, offset }: { from: number; to: number; offset: number },
  hidden: ReadonlySet<number>,
): void {
  for (const { type, start, from: begin, to: end } of boxPlaces(piece, from, to)) {
    if (type !== 'traf') continue
    const header = [...boxPlaces(piece, begin, end)].find((each) => each.type === 'tfhd')
    if (header === undefined || !hidden.has(piece.readUInt32BE(header.from + 4))) continue
    // A moof is the first box of its fragment, so `offset` is also the position of the moof.
    for (const sample of samplePlaces(piece.subarray(begin, end), offset))
      piece.fill(0, Math.max(0, sample.offset - offset), Math.max(0, sample.offset - offset + sample.bytes))
    free(piece, start, end)
  }
}

/** Turns a box into a `free` box, and clears its content. */
function free(piece: Buffer, start: number, end: number): void {
  piece.write('free', start + 4, 'latin1')
  piece.fill(0, start + 8, end)
}

/**
 * Element ids (RFC 9559, section 5.1). The ids of hidden elements have one byte, like `Void` (RFC 8794, section
 * 11.3.2).
 */
const ids = {
  void: 0xec,
  segment: 0x1853_8067,
  tracks: 0x1654_ae6b,
  trackEntry: 0xae,
  trackNumber: 0xd7,
  cluster: 0x1f43_b675,
  simpleBlock: 0xa3,
  blockGroup: 0xa0,
  block: 0xa1,
} as const

/**
 * Hides tracks in a piece of a WebM, in place: their entries and blocks become `Void` elements, which players skip. All
 * sizes and positions stay the same, so that byte ranges remain valid.
 * @param piece the init, or a complete cluster
 */
export function hideWebmTracks(piece: Buffer, hidden: ReadonlySet<number>): void {
  hideBetween(piece, 0, piece.length, hidden)
}

function hideBetween(piece: Buffer, from: number, to: number, hidden: ReadonlySet<number>): void {
  for (const place of elementPlaces(piece, from, to)) {
    if (place.id === ids.segment || place.id === ids.tracks || place.id === ids.cluster)
      hideBetween(piece, place.from, place.to, hidden)
    else if (hidden.has(trackOf(piece, place) ?? -1)) {
      piece[place.start] = ids.void
      piece.fill(0, place.from, place.to)
    }
  }
}

/** Returns the track of an element; undefined if it has none. */
function trackOf(piece: Buffer, { id, from, to }: ElementPlace): number | undefined {
  if (id === ids.simpleBlock || id === ids.block) return numberAt(piece, from, true)?.value
  if (id !== ids.blockGroup && id !== ids.trackEntry) return undefined
  for (const inner of elementPlaces(piece, from, to)) {
    if (inner.id === ids.trackNumber) return piece.readUIntBE(inner.from, inner.to - inner.from)
    if (inner.id === ids.block) return trackOf(piece, inner)
  }
  return undefined
}
