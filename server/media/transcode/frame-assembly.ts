/** A picture or a piece of sound as input of a decoder. */
export interface SourceFrame {
  /** RTP timestamp of presentation. */
  timestamp: number
  frame: Buffer
  /** Whether the frame can be decoded by itself. */
  key: boolean
  /**
   * H.264: whether decoding may begin with this frame, although the first pictures may be incomplete (recovery point).
   */
  recovers?: boolean
}

/** Assembles frames from the packets of a track, which arrive in order. Unreadable data is skipped without an error. */
export interface FrameAssembly {
  push(packet: Buffer): void
}

/** Creates an assembly for a track. */
export type MakeAssembly = (take: (frame: SourceFrame) => void) => FrameAssembly

/** Decodes a payload to 16-bit samples with interleaved channels. */
export type SampleDecoder = (payload: Buffer) => Int16Array

/** Maximum size of a picture in bytes: a 4K picture in Motion JPEG has 3 MB. */
export const largestFrame = 8 * 1024 * 1024
