/** A picture as ffmpeg encoded it. */
export interface EncodedPicture {
  /** Milliseconds. */
  at: number
  /** NAL units of H.264, or one VP8 frame. */
  units: Buffer[]
}
