/** State of a live stream, for the page that plays it. */
export interface LivePicture {
  /**
   * State of the stream. waiting: no media has arrived yet. over: it has ended, or the address has expired. impossible:
   * see `problem`.
   */
  state: 'waiting' | 'living' | 'over' | 'impossible'
  /** Problem in one English sentence; empty: none. */
  problem: string
  name: string
  topic: string
  container: 'mp4' | 'webm'
  /** RFC 6381 codec strings, separated by commas. */
  codecs: string
  picture: boolean
  sound: boolean
  /** Fragments of the last seconds, for a stream in WebM, which HLS does not support. */
  fragments: readonly LivePicturePart[]
}

/** Part of a file that a player appends after the file's initialization segment. */
export interface LivePicturePart {
  /** Start of the recorded segment, in milliseconds since the epoch. Its file is `<segment>.webm`. */
  segment: number
  init: { offset: number; bytes: number }
  offset: number
  bytes: number
  /** Media time in the segment, in seconds. */
  start: number
  duration: number
}
