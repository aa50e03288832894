/** A picture as ffmpeg encoded it. */
export interface EncodedPicture {
  /** Milliseconds. */
  at: number
  /** NAL units of H.264, or the one frame of VP8. */
  units: Buffer[]
}
