/** A recorded segment of one stream, for the player. Times are milliseconds since the epoch. */
export interface Piece {
  id: number
  from: number
  /** End; for an open piece, the end known so far. */
  to: number
  /** Content type with codecs, for a SourceBuffer. */
  type: string
  hasPicture: boolean
  hasSound: boolean
  /** The piece is still being written. */
  open: boolean
}

/** Pieces of one stream, loaded when they are needed. */
export interface PieceSource {
  /** Resolves to the piece at a time, else the next one; undefined: none. */
  at(time: number): Promise<Piece | undefined>
  /** Resolves to the last piece that starts before a time; undefined: none. */
  before(time: number): Promise<Piece | undefined>
  /** Like `at`, among the loaded pieces only. */
  known(time: number): Piece | undefined
}

/** Returns the content type of a segment. */
export function typeOf(container: string, videoCodec: string, audioCodec: string): string {
  const codecs = [videoCodec, audioCodec].filter((codec) => codec !== '').join(', ')
  return `${videoCodec === '' ? 'audio' : 'video'}/${container}; codecs="${codecs}"`
}

/**
 * Returns the piece at a time, else the next one. Of overlapping pieces, the later one is returned. @param pieces
 * sorted by time
 */
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

/** Returns the last piece that starts before a time. @param pieces sorted by time */
export function pieceBefore(pieces: readonly Piece[], time: number): Piece | undefined {
  return pieces.findLast(({ from }) => from < time)
}
