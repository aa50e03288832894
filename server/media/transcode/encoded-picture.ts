/** A picture as ffmpeg encoded it. */
export interface EncodedPicture {
  /** Presentation time, in milliseconds. */
  at: number
  /** NAL units of H.264, or one VP8 frame. */
  units: Buffer[]
}
