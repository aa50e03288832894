import type { FragmentTable } from '../playback/fragment-table.ts'
import { boxPlaces, samplePlaces } from '../playback/mp4-scan.ts'

/**
 * Hides tracks in a piece of an MP4, in place: their boxes become `free` boxes, which players skip (ISO/IEC 14496-12, section 8.1.2), their media zeros. All lengths and places stay, so
 * that byte ranges of playlists hold.
 * @param piece the init, or a whole fragment
 * @param offset place of the piece in its file
 */
export function hideTracks(piece: Buffer, offset: number, hidden: ReadonlySet<number>): void {
  for (const { type, from, to } of boxPlaces(piece)) {
    if (type === 'moov') hideInMovie(piece, from, to, hidden)
    else if (type === 'moof') hideInFragment(piece, { from, to, offset }, hidden)
  }
}

/** Ids of the tracks of a file that are not to be sent. */
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
    // A moof is the first box of its fragment.
    for (const sample of samplePlaces(piece.subarray(begin, end), offset))
      piece.fill(0, Math.max(0, sample.offset - offset), Math.max(0, sample.offset - offset + sample.bytes))
    free(piece, start, end)
  }
}

/** Turns a box into one that is skipped. Its content goes, too. */
function free(piece: Buffer, start: number, end: number): void {
  piece.write('free', start + 4, 'latin1')
  piece.fill(0, start + 8, end)
}
