/** State of a live stream, for the page that plays it. */
export interface LivePicture {
  /** waiting: no media has arrived yet. over: it has ended, or the address has expired. impossible: see problem. */
  state: 'waiting' | 'living' | 'over' | 'impossible'
  /** One English sentence; empty: none. */
  problem: string
  name: string
  topic: string
  container: 'mp4' | 'webm'
  /** RFC 6381 codec strings, with commas. */
  codecs: string
  picture: boolean
  sound: boolean
  /** Last seconds of a stream in WebM, which HLS does not support. */
  fragments: readonly LivePicturePart[]
}

/** Piece of a file that a player appends after its init. */
export interface LivePicturePart {
  /** Start of its segment, in milliseconds since the epoch: its file is `<segment>.webm`. */
  segment: number
  init: { offset: number; bytes: number }
  offset: number
  bytes: number
  /** Media time in its segment, in seconds. */
  start: number
  duration: number
}
