/** Video of a feed. */
export interface VideoFormat {
  codec: 'H264' | 'H265' | 'VP8'
  /** H.264 profile-level-id, six hexadecimal digits; empty when unknown. */
  profileLevelId: string
  /** H.264 sprop-parameter-sets of the SDP; empty when there are none. */
  parameterSets: string
}

/** Audio of a feed. */
export interface AudioFormat {
  codec: 'PCMU' | 'PCMA' | 'G722' | 'OPUS'
  /** Clock rate of the timestamps, in Hz. */
  clockRate: number
}

/** Traffic of a feed since it began. */
export interface FeedCounts {
  videoBytes: number
  audioBytes: number
  frames: number
  keyFrames: number
  /** Milliseconds since the epoch; 0 when none came. */
  lastKeyFrameAt: number
  lastPacketAt: number
  /** Packets that viewers were not sent because too many waited. */
  dropped: number
}

/** The newest picture of a feed that can be decoded by itself. */
export interface KeyPicture {
  /** In the form of H.264 Annex B, with its parameter sets. */
  frame: Buffer
  /** In pixels. */
  width: number
  height: number
  /** When it came, milliseconds since the epoch. */
  at: number
}
