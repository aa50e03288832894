import { boxPlaces } from '../playback/mp4-scan.ts'

/**
 * Adds a time to the decode times of a fragment of an MP4, in place. Media time begins anew in each file; a playlist of several needs times that rise: ffmpeg discards what is not later
 * than the sample before it (`mov_read_trun`), behind a discontinuity, too.
 * @param piece the init, which stays as it is, or a whole fragment
 * @param seconds to add
 * @param timescales ticks a second of each track, by id
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
      // The recorder writes 64 bits (ISO/IEC 14496-12, section 8.8.12).
      if (timescale === undefined || time === undefined || piece[time.from] !== 1) continue
      const moved = piece.readBigUInt64BE(time.from + 4) + BigInt(Math.round(seconds * timescale))
      piece.writeBigUInt64BE(moved, time.from + 4)
    }
  }
}
