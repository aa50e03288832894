/** A recorded segment of one stream, as the player plays it. Times are milliseconds since the epoch. */
export interface Piece {
  id: number
  from: number
  /** End; of a piece that grows, as far as it is known. */
  to: number
  /** Content type with codecs, as a SourceBuffer takes it. */
  type: string
  hasPicture: boolean
  hasSound: boolean
  /** It is still written. */
  open: boolean
}

/** Pieces of one stream, loaded when they are needed. */
export interface PieceSource {
  /** The piece at a time, else the next one after it; undefined: there is none. */
  at(time: number): Promise<Piece | undefined>
  /** The last piece that begins before a time; undefined: there is none. */
  before(time: number): Promise<Piece | undefined>
  /** As `at`, of those that are loaded. */
  known(time: number): Piece | undefined
}

/** Content type of a segment. */
export function typeOf(container: string, videoCodec: string, audioCodec: string): string {
  const codecs = [videoCodec, audioCodec].filter((codec) => codec !== '').join(', ')
  return `${videoCodec === '' ? 'audio' : 'video'}/${container}; codecs="${codecs}"`
}

/** The piece at a time, else the next one, of pieces in order. A piece that overlaps its neighbour gives way to the later one. */
export function pieceAt(pieces: readonly Piece[], time: number): Piece | undefined {
  let [low, high] = [0, pieces.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((pieces[middle]?.from ?? 0) <= time) low = middle + 1
    else high = middle
  }
  const before = pieces[low - 1]
  return before !== undefined && (before.to > time || before.open) ? before : pieces[low]
}

/** The last piece that begins before a time, of pieces in order. */
export function pieceBefore(pieces: readonly Piece[], time: number): Piece | undefined {
  return pieces.findLast(({ from }) => from < time)
}
