/** Facts of a live stream for the page that shows it. */
export interface LivePicture {
  /** waiting: nothing came yet. over: it has ended, or the address has expired. impossible: see problem. */
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

/** A piece of a file that a player appends behind its init. */
export interface LivePicturePart {
  /** Beginning of its segment, in milliseconds since the epoch: `<segment>.webm` is its file. */
  segment: number
  init: { offset: number; bytes: number }
  offset: number
  bytes: number
  /** Seconds of media time in its segment. */
  start: number
  duration: number
}
