/** A picture or a piece of sound as a decoder takes it. */
export interface SourceFrame {
  /** RTP timestamp of its presentation. */
  timestamp: number
  frame: Buffer
  /** It can be decoded by itself. */
  key: boolean
  /** H.264: decoding may begin with it, though it may take some pictures until they are whole (recovery point). */
  recovers?: boolean
}

/** Puts frames together from the packets of a track, which come in order; what cannot be read is left out, never an error. */
export interface FrameAssembly {
  push(packet: Buffer): void
}

/** Makes one for a track. */
export type MakeAssembly = (take: (frame: SourceFrame) => void) => FrameAssembly

/** Decodes a payload to samples of 16 bits, those of the channels in turn. */
export type SampleDecoder = (payload: Buffer) => Int16Array

/** Nothing larger is a picture: one of 4K in Motion JPEG has 3 MB. */
export const largestFrame = 8 * 1024 * 1024
