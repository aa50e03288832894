export interface VideoFormat {
  codec: 'H264' | 'H265' | 'VP8'
  /** H.264 profile-level-id, six hexadecimal digits; empty when unknown. */
  profileLevelId: string
  /** H.264 sprop-parameter-sets of the SDP; empty when there are none. */
  parameterSets: string
}

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
  /** Milliseconds since the epoch; 0 if there was none. */
  lastKeyFrameAt: number
  lastPacketAt: number
  /** Packets dropped for all viewers because the queue was full. */
  dropped: number
}

/** Newest picture of a feed that can be decoded by itself. */
export interface KeyPicture {
  /** H.264 Annex B, with parameter sets. */
  frame: Buffer
  /** Width and height, in pixels. */
  width: number
  height: number
  /** Time of arrival, in milliseconds since the epoch. */
  at: number
}
